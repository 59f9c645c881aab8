package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/operator-assay/assay/harness/cluster"
	"github.com/operator-assay/assay/harness/images"
	fixtures "github.com/operator-assay/assay/test/fixtures/images"
	"github.com/operator-assay/assay/test/scenarios"
)

var (
	operatorBinary string
	operatorImage  = "assay-operator:e2e"
	proberImage    string
)

const root = "../.."

func provideImages(ctx context.Context) error {
	began := time.Now()
	var what string
	var err error
	switch testCluster.Provider {
	case cluster.KWOK:
		catalogue = scenarios.New(scenarios.Published) // KWOK does not pull images
		what, err = "none, because KWOK does not run containers; operator built", buildOperator(ctx)
	case cluster.Existing:
		catalogue = scenarios.New(scenarios.Published)
		what, err = userImages()
	default:
		what, err = loadImages(ctx)
	}
	if err != nil {
		return err
	}
	reporter.Phase("images", time.Since(began), "%s", what)
	return nil
}

func userImages() (string, error) {
	operatorImage, proberImage = os.Getenv("IMG"), os.Getenv("PROBER_IMG")
	if operatorImage == "" || proberImage == "" {
		return "", errors.New("IMG and PROBER_IMG are required with E2E_PROVIDER=existing: " +
			"build the images with `make docker-build prober-image`, push them, and set IMG and PROBER_IMG to their names")
	}
	return fmt.Sprintf("%s, %s", operatorImage, proberImage), nil
}

func loadImages(ctx context.Context) (string, error) {
	engine, err := images.Connect(ctx, reporter)
	if err != nil {
		return "", err
	}
	if err := buildOperatorImage(ctx); err != nil {
		return "", err
	}
	servers, err := provideServers(ctx, engine)
	if err != nil {
		return "", err
	}
	catalogue = scenarios.New(servers)
	if proberImage, err = fixtures.Prober(ctx, engine); err != nil {
		return "", err
	}
	refs := []string{operatorImage, servers.WebServer.From, servers.WebServer.To, servers.Memcached.From, servers.Memcached.To, proberImage}
	return fmt.Sprintf("operator, %s, %s, prober", upgradeOf(servers.WebServer), upgradeOf(servers.Memcached)), load(ctx, engine, refs...)
}

// provideServers returns the published images, or builds images if they cannot be pulled.
func provideServers(ctx context.Context, engine *images.Engine) (scenarios.Images, error) {
	published := scenarios.Published
	err := engine.Pull(ctx, published.WebServer.From, published.WebServer.To, published.Memcached.From, published.Memcached.To)
	if err == nil || ctx.Err() != nil {
		return published, err
	}
	fmt.Fprintf(reporter, "%-10s using nginx and memcached from Debian packages, because %v\n", "images", err)
	nginx, memcached := fixtures.Nginx, fixtures.Memcached
	return scenarios.Images{
		WebServer: scenarios.Versions{From: nginx[0].Ref, To: nginx[1].Ref},
		Memcached: scenarios.Versions{From: memcached[0].Ref, To: memcached[1].Ref},
	}, engine.BuildFromDebian(ctx, append(slices.Clone(nginx), memcached...)...)
}

// upgradeOf describes an upgrade, such as "nginx:1.23.1 → 1.23.0".
func upgradeOf(v scenarios.Versions) string {
	return v.From + " → " + v.To[strings.LastIndex(v.To, ":")+1:]
}

func load(ctx context.Context, engine *images.Engine, refs ...string) error {
	dir, err := os.MkdirTemp("", "assay-images-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	archive := filepath.Join(dir, "images.tar")
	if err := engine.Save(ctx, archive, refs...); err != nil {
		return err
	}
	return testCluster.Load(ctx, archive)
}

func buildOperatorImage(ctx context.Context) error {
	if err := buildOperator(ctx); err != nil {
		return err
	}
	build := exec.CommandContext(ctx, "docker", "build", "--quiet", "--tag", operatorImage, "--file", "operator/Dockerfile", ".")
	build.Dir = root
	build.Env = append(os.Environ(), "BUILDX_NO_DEFAULT_ATTESTATIONS=1") // they would add a second platform to the archive
	if output, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot build the image of the operator: %w: %s", err, output)
	}
	return nil
}

// buildOperator builds bin/manager, which operator/Dockerfile copies into the image.
func buildOperator(ctx context.Context) error {
	var err error
	if operatorBinary, err = filepath.Abs(filepath.Join(root, "bin/manager")); err != nil {
		return err
	}
	build := exec.CommandContext(ctx, "go", "build", "-ldflags=-s -w", "-o", operatorBinary, "./operator")
	build.Dir = root
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if testCluster.Provider != cluster.KWOK {
		build.Env = append(build.Env, "GOOS=linux")
	}
	if output, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot build the operator: %w: %s", err, output)
	}
	return nil
}
