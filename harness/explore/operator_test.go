package explore

import (
	"context"
	"io"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	applymetav1 "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// copier is an operator that copies every ConfigMap with the label copy=true to a Secret.
type copier struct {
	client.Client
	// blind disables the watch for the copies.
	blind bool
	copy  func(c *copier, ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error)
	// made records what the copy function has already done. It is lost when the operator restarts.
	made map[string]bool
}

// operator returns an Operator that runs a copier in a manager.
func operator(c copier) Operator {
	return func(ctx context.Context, _ string, config_ *rest.Config, out io.Writer) error {
		mgr, err := ctrl.NewManager(config_, ctrl.Options{
			Logger:     zap.New(zap.WriteTo(out)),
			Metrics:    metricsserver.Options{BindAddress: "0"},
			Controller: config.Controller{SkipNameValidation: new(true)},
		})
		if err != nil {
			return err
		}
		c := copier{Client: mgr.GetClient(), copy: c.copy, blind: c.blind, made: map[string]bool{}}
		builder := ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{})
		if !c.blind {
			builder.Owns(&corev1.Secret{})
		}
		if err := builder.Complete(&c); err != nil {
			return err
		}
		return mgr.Start(ctx)
	}
}

func (c *copier) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	var of corev1.ConfigMap
	if err := c.Get(ctx, request.NamespacedName, &of); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if of.Labels["copy"] != "true" {
		return reconcile.Result{}, nil
	}
	return c.copy(c, ctx, &of)
}

func (c *copier) correctly(ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
	return reconcile.Result{}, c.apply(ctx, of, of.Name+"-copy")
}

func (c *copier) apply(ctx context.Context, of *corev1.ConfigMap, name string) error {
	secret := applycorev1.Secret(name, of.Namespace).
		WithData(copyOf(of)).
		WithOwnerReferences(applymetav1.OwnerReference().WithAPIVersion("v1").WithKind("ConfigMap").
			WithName(of.Name).WithUID(of.UID).WithController(true))
	return c.Apply(ctx, secret, client.FieldOwner("copier"), client.ForceOwnership)
}

func copyOf(of *corev1.ConfigMap) map[string][]byte {
	return map[string][]byte{"value": []byte(of.Data["value"])}
}

func (c *copier) create(ctx context.Context, of *corev1.ConfigMap) (*corev1.Secret, error) {
	copied := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			GenerateName: of.Name + "-copy-", Namespace: of.Namespace, Labels: map[string]string{"of": of.Name},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(of, corev1.SchemeGroupVersion.WithKind("ConfigMap"))},
		},
		Data: copyOf(of),
	}
	return copied, c.Create(ctx, copied)
}

// thenRecording creates a copy and then records its name in an annotation. After a crash between these writes, it
// creates a second copy. Until the annotation is in the cache, a map prevents a second copy.
func (c *copier) thenRecording(ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
	if of.Annotations["copy"] != "" || c.made[of.Name] {
		return reconcile.Result{}, nil
	}
	copied, err := c.create(ctx, of)
	if err != nil {
		return reconcile.Result{}, err
	}
	before := of.DeepCopy()
	of.Annotations = map[string]string{"copy": copied.Name}
	if err := c.Patch(ctx, of, client.MergeFrom(before)); err != nil {
		return reconcile.Result{}, err
	}
	c.made[of.Name] = true
	return reconcile.Result{}, nil
}

func (c *copier) oncePerInstance(ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
	if c.made[of.Name] {
		return reconcile.Result{}, nil
	}
	c.made[of.Name] = true
	_, err := c.create(ctx, of)
	return reconcile.Result{}, err
}

// journaling records the start and the completion of each copy in an annotation. After a crash, the next instance marks
// an unfinished copy as complete before it creates the Secret. If it also crashes in between, the copy is lost.
func (c *copier) journaling(ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
	switch noted := of.Annotations["copy"]; {
	case noted == "done" || noted == "" && c.made["done"]: // the cache may be behind
		return reconcile.Result{}, nil
	case c.made["done"]:
		return reconcile.Result{}, c.note(ctx, of, "done")
	case noted == "begun" && !c.made["begun"]: // started by the previous instance
		if err := c.note(ctx, of, "done"); err != nil {
			return reconcile.Result{}, err
		}
		return c.correctly(ctx, of)
	}
	c.made["begun"] = true
	if err := c.note(ctx, of, "begun"); err != nil {
		return reconcile.Result{}, err
	}
	if err := c.apply(ctx, of, of.Name+"-copy"); err != nil {
		return reconcile.Result{}, err
	}
	if err := c.note(ctx, of, "done"); err != nil {
		return reconcile.Result{}, err
	}
	c.made["done"] = true
	return reconcile.Result{}, nil
}

func (c *copier) note(ctx context.Context, of *corev1.ConfigMap, text string) error {
	before := of.DeepCopy()
	of.Annotations = map[string]string{"copy": text}
	return c.Patch(ctx, of, client.MergeFrom(before))
}

func (c *copier) swallowing(ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
	if err := c.apply(ctx, of, of.Name+"-copy"); err != nil {
		ctrllog.FromContext(ctx).Info("Cannot copy", "error", err.Error())
	}
	return reconcile.Result{}, nil
}

func (c *copier) swallowingTwice(ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
	if err := c.apply(ctx, of, of.Name+"-first"); err != nil {
		ctrllog.FromContext(ctx).Info("Cannot copy", "error", err.Error())
	}
	return c.swallowing(ctx, of)
}

// applyOften applies the copy 100 times in parallel, so that the rate is high even on a slow machine.
func (c *copier) applyOften(ctx context.Context, of *corev1.ConfigMap) {
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() { _ = c.apply(ctx, of, of.Name+"-copy") })
	}
	all.Wait()
}

// hotly retries without a back-off.
func (c *copier) hotly(ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
	if c.apply(ctx, of, of.Name+"-copy") != nil {
		c.applyOften(ctx, of)
		return reconcile.Result{RequeueAfter: 100 * time.Millisecond}, nil
	}
	return reconcile.Result{}, nil
}

// trusting looks for existing copies in its cache, which may be stale. It remembers its own writes until it restarts.
func (c *copier) trusting(ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
	var copies corev1.SecretList
	if err := c.List(ctx, &copies, client.InNamespace(of.Namespace), client.MatchingLabels{"of": of.Name}); err != nil {
		return reconcile.Result{}, err
	}
	if len(copies.Items) > 0 || c.made[of.Name] {
		return reconcile.Result{}, nil
	}
	c.made[of.Name] = true
	_, err := c.create(ctx, of)
	return reconcile.Result{}, err
}

// insisting is a reconciler that reapplies the copy until the cache contains it.
func (c *copier) insisting(ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
	var copied corev1.Secret
	err := c.Get(ctx, client.ObjectKey{Namespace: of.Namespace, Name: of.Name + "-copy"}, &copied)
	if err == nil && string(copied.Data["value"]) == of.Data["value"] {
		return reconcile.Result{}, nil
	}
	return reconcile.Result{RequeueAfter: 100 * time.Millisecond}, c.apply(ctx, of, of.Name+"-copy")
}

// renaming derives the name of the copy from its value, and deletes copies with other names.
func (c *copier) renaming(ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
	name := of.Name + "-" + strings.ToLower(of.Data["value"])
	if err := c.apply(ctx, of, name); err != nil {
		return reconcile.Result{}, err
	}
	var copies corev1.SecretList
	if err := c.List(ctx, &copies, client.InNamespace(of.Namespace)); err != nil {
		return reconcile.Result{}, err
	}
	for _, copied := range copies.Items {
		if copied.Name != name {
			if err := c.Delete(ctx, &copied); client.IgnoreNotFound(err) != nil {
				return reconcile.Result{}, err
			}
		}
	}
	return reconcile.Result{}, nil
}

// finalizer blocks the deletion of a ConfigMap until its copy is deleted.
const finalizer = "copier.example.com/finalizer"

// cleaningUp deletes the copy by name when the ConfigMap is being deleted.
func (c *copier) cleaningUp(ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
	if of.DeletionTimestamp.IsZero() {
		if controllerutil.AddFinalizer(of, finalizer) {
			if err := c.Update(ctx, of); err != nil {
				return reconcile.Result{}, err
			}
		}
		return c.correctly(ctx, of)
	}
	if !controllerutil.RemoveFinalizer(of, finalizer) {
		return reconcile.Result{}, nil
	}
	copied := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: of.Name + "-copy", Namespace: of.Namespace}}
	if err := c.Delete(ctx, copied); client.IgnoreNotFound(err) != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{}, client.IgnoreNotFound(c.Update(ctx, of))
}
