package subject

import (
	"context"
	"fmt"

	"github.com/operator-assay/assay/harness/explore"
	"github.com/operator-assay/assay/harness/scenario/scenarioyaml"
)

func besides(file string, named []scenarioyaml.Beside) ([]*program, error) {
	var programs []*program
	for _, of := range named {
		p := &program{mainPackage: of.Main, arguments: of.Arguments, env: of.Env}
		if err := p.lookUp(of.Operator, fmt.Sprintf("%s: beside: %s: ", file, of.Deployment)); err != nil {
			return nil, err
		}
		programs = append(programs, p)
	}
	return programs, nil
}

// besideOf describes the programs that run beside the operator. Each program gets a user of its own.
func (p *environment) besideOf(ctx context.Context, about *Subject) ([]explore.Sidecar, error) {
	var all []explore.Sidecar
	for _, program := range about.beside {
		identity, err := userOf(ctx, p.plane, userBeside(program), program.manager)
		if err != nil {
			return nil, err
		}
		all = append(all, explore.Sidecar{
			Name:           program.manager.Name(),
			Identity:       identity,
			Operator:       explore.Pod(p.container(about.folder, program)),
			ServesWebhooks: program.manager.ServesWebhooks(),
		})
	}
	return all, nil
}

func (s *Subject) grantBeside(ctx context.Context, on *environment, beside []explore.Sidecar, namespace string) error {
	for i, program := range s.beside {
		if err := grant(ctx, on.plane, userBeside(program), beside[i].Identity, program.manager, namespace); err != nil {
			return err
		}
	}
	return nil
}

func userBeside(p *program) string { return user + ":" + p.manager.Name() }
