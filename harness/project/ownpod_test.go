package project

import (
	"slices"
	"testing"
)

const ownPodManifest = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: manager, namespace: system}
spec:
  template:
    metadata: {labels: {app: mine}}
    spec:
      serviceAccountName: account
      priorityClassName: of-a-cluster
      containers:
      - name: manager
        image: manager:v1
        env: [{name: POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]
        volumeMounts: [{name: info, mountPath: /info}, {name: claim, mountPath: /data}]
      volumes: [{name: info, projected: {sources: [{downwardAPI: {items: [{path: about, fieldRef: {fieldPath: metadata.uid}}]}}]}}]
`

func TestManagerHasPod(t *testing.T) {
	manager := installOf(t, ownPodManifest, "").Manager
	account, own := manager.Pod("run-1")
	c := manager.In("1234").Container("/bin/manager", "run-1")
	if c.Hostname != own.Name || !slices.Equal(c.Env, []string{"POD=" + own.Name}) || string(c.Mounts["/info"]["about"]) != "1234" {
		t.Errorf("got hostname %s, variables %q and files %q in Pod %s", c.Hostname, c.Env, c.Mounts["/info"], own.Name)
	}
	if account.Name != "account" || account.Namespace != "run-1" || own.Spec.ServiceAccountName != "account" || own.Namespace != "run-1" {
		t.Errorf("got a Pod of %s/%s with ServiceAccount %s/%s", own.Namespace, own.Spec.ServiceAccountName, account.Namespace, account.Name)
	}
	if volumes := own.Spec.Volumes; len(volumes) != 2 || volumes[1].Name != "claim" {
		t.Errorf("got volumes %v, want one for each mount", volumes)
	}
	if own.Labels["app"] != "mine" || own.Spec.Containers[0].Image != "manager:v1" || own.Spec.PriorityClassName != "" {
		t.Errorf("got Pod %+v", own)
	}
	if template := manager.workload.template; len(template.Labels) != 1 || template.Spec.NodeName != "" {
		t.Errorf("got template %+v, want it unchanged", template)
	}
	manager.workload.template.Spec.Hostname = "named"
	if got := manager.Container("/bin/manager", "run-1").Hostname; got != "named" {
		t.Errorf("got hostname %s, want named", got)
	}
}
