package subject

import (
	"context"
	"fmt"

	"github.com/operator-assay/assay/harness/explore"
	"github.com/operator-assay/assay/harness/scenario/scenarioyaml"
)

func companions(file string, named []scenarioyaml.Companion) ([]*program, error) {
	var programs []*program
	for _, of := range named {
		p := &program{mainPackage: of.Main, orElse: "set its operator to a binary", arguments: of.Arguments, env: of.Env}
		if err := p.lookUp(of.Operator, fmt.Sprintf("%s: companions: %s: operator: ", file, of.Deployment)); err != nil {
			return nil, err
		}
		programs = append(programs, p)
	}
	return programs, nil
}

func (p *environment) companionsOf(ctx context.Context, about *Subject) ([]explore.Companion, error) {
	var all []explore.Companion
	for _, program := range about.companions {
		identity, err := userOf(ctx, p.plane, companionUser(program), program.manager)
		if err != nil {
			return nil, err
		}
		all = append(all, explore.Companion{
			Name:           program.manager.Name(),
			Identity:       identity,
			Operator:       explore.Pod(p.container(about.folder, program)),
			ServesWebhooks: program.manager.ServesWebhooks(),
		})
	}
	return all, nil
}

func (s *Subject) grantCompanions(ctx context.Context, on *environment, companions []explore.Companion, namespace string) error {
	for i, program := range s.companions {
		if err := grant(ctx, on.plane, companionUser(program), companions[i].Identity, program.manager, namespace); err != nil {
			return err
		}
	}
	return nil
}

func companionUser(p *program) string { return user + ":" + p.manager.Name() }
