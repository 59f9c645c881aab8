package project

import (
	"fmt"
	"strings"
	"testing"
)

// containerOf returns a manifest for a Deployment with one container in the mini-system namespace.
func containerOf(fields string) string {
	return "{apiVersion: apps/v1, kind: Deployment, metadata: {name: manager, namespace: mini-system}, spec: {template: {spec: {containers: [{name: manager, " + fields + "}]}}}}\n"
}

func TestArgumentsComeFromDeploymentOrImage(t *testing.T) {
	for _, test := range []struct{ dockerfile, container, want string }{
		{`ENTRYPOINT ["/manager","run"]`, ``, "run"},
		{`entrypoint [ "/manager" , "run", "a b" ]`, ``, "run|a b"},
		{"ENTRYPOINT [\"/manager\", \\\n  # a comment\n\n  \"run\"]\nHEALTHCHECK --interval=5m \\\n  CMD curl", ``, "run"},
		{"ENTRYPOINT [\"/manager\"]\nCMD [\"run\", \"--fast\"]", ``, "run|--fast"},
		{"CMD [\"run\"]\nENTRYPOINT [\"/manager\"]", ``, "run"},
		{`CMD ["/manager", "run"]`, ``, "run"},
		{`ENTRYPOINT /manager run --name "$NAME" ${NAME}-2`, ``, "run|--name|me|me-2"},
		{`CMD exec /manager run --name=$NAME --level ${LEVEL:-2}`, ``, "run|--name=me|--level|2"},
		{"ENV LEVEL=$NAME-1 OTHER='a $NAME'\nENTRYPOINT /manager $LEVEL \"$OTHER\"", ``, "me-1|a $NAME"},
		{"ENV OLD old style\nENTRYPOINT /manager \"$OLD\"", ``, "old style"},
		{`ENTRYPOINT ["/manager", "$NAME"]`, ``, "$NAME"},
		{`ENTRYPOINT ["sh", "-c", "/manager run \"$@\"", "--"]`, `args: [--a, b c]`, "run|--a|b c"},
		{"SHELL [\"/bin/bash\", \"-ec\"]\nENTRYPOINT cd / && /manager run", ``, "run"},
		{`ENTRYPOINT ["/usr/bin/tini", "-g", "--", "/manager", "run"]`, ``, "run"},
		{`ENTRYPOINT ["dumb-init", "/manager", "run"]`, `args: [--x]`, "run|--x"},
		{"FROM busybox\nENTRYPOINT [\"/other\"]\nFROM a AS b\nENTRYPOINT [\"/manager\",\"run\"]\nCMD [\"x\"]\nFROM --platform=linux/amd64 B\nLABEL a=b", ``, "run|x"},
		{"FROM a AS b\nENTRYPOINT [\"/other\"]\nCMD [\"x\"]\nFROM b\nENTRYPOINT [\"/manager\",\"run\"]", ``, "run"},
		{"FROM a AS b\nENTRYPOINT [\"/manager\",\"run\"]\nFROM c\nCMD [\"/manager\"]", ``, ""},
		{"FROM a AS b\nENTRYPOINT [\"/manager\",\"run\"]\nFROM ${BASE}", ``, "run"},
		{"ARG A LEVEL=3\nENV LEVEL=$LEVEL\nENTRYPOINT /manager $LEVEL", ``, "3"},
		{"FROM a AS op\nENTRYPOINT [\"/manager\",\"run\"]\nFROM a AS cli\nENTRYPOINT [\"/cli\",\"x\"]", ``, "run"},
		{"FROM a AS manager\nENTRYPOINT [\"/bin/sh\", \"-c\", \"/manager run\"]\nFROM a AS debug\nENTRYPOINT [\"/dlv\",\"exec\"]", ``, "run"},
		{"WORKDIR /app\nENV LEVEL=2\nENTRYPOINT ./manager run --level=${LEVEL} --home=$HOME", ``, "run|--level=2|--home="},
		{"FROM a AS b-linux\nENTRYPOINT [\"/manager\",\"run\"]\nFROM b-${TARGETOS}", ``, "run"},
		{"COPY --chmod=755 scripts/start.sh /\nENTRYPOINT [\"/start.sh\", \"run\"]\nCMD [\"--x\"]", ``, "run|--x"},
		{"COPY scripts/flag.sh /\nCMD exec /flag.sh run", ``, "--flag|run"},
		{"COPY scripts/flag.sh /\nENTRYPOINT [\"env\", \"A=b\", \"/flag.sh\", \"run\"]", ``, "--flag|run"},
		{"ENV OPERATOR=/manager\nCOPY build/bin /usr/local/bin\nENTRYPOINT [\"/usr/local/bin/entrypoint\"]", `args: [--x]`, "--x"},
		{"COPY [\"scripts/start.sh\", \"/\"]\nENTRYPOINT [\"tini\", \"--\", \"/start.sh\"]", `args: [--x]`, "--x"},
		{"COPY scripts scripts\nCMD [\"/manager\"]", `command: [sh, -e, scripts/start.sh, --y]`, "--y"},
		{"COPY scripts/tini.sh /\nENTRYPOINT [\"/tini.sh\"]", `args: [run]`, "run"},
		{`ENTRYPOINT ["/usr/bin/env", "LEVEL=2", "gosu", "nobody", "/manager", "run"]`, ``, "run"},
		{"COPY scripts/set.sh /\nENTRYPOINT [\"/set.sh\"]", `args: [run]`, "run"},
		// Scripts that cannot be analyzed are assumed to pass their arguments on.
		{"ENTRYPOINT [\"/unknown.sh\"]\nCMD [\"--fast\"]", `args: [--namespace=mini-system]`, "--namespace=run-1"},
		{"ENTRYPOINT [\"/unknown.sh\"]\nCMD [\"run\"]", ``, "run"},
		{"COPY scripts/export.sh /\nENTRYPOINT [\"/export.sh\"]", `args: [--namespace, mini-system]`, "--namespace|run-1"},
		{"ENTRYPOINT [\"tini\", \"--\", \"bash\", \"-e\", \"/unknown\"]", `args: [--x]`, "--x"},
		{"RUN <<EOF\nENTRYPOINT [\"/other\"]\nEOF\nCMD [\"/manager\"]", ``, ""},
		{"RUN cat <<<foo; echo $((1<<3)) \"a <<b\"\nCMD [\"/manager\", \"run\"]", ``, "run"},
		{"SHELL [\"/bin/bash\", \"-o\", \"pipefail\", \"-c\"]\nENTRYPOINT exec /manager run", ``, "run"},
		{``, `command: [bash, -eo, pipefail, -c, "exec /manager --x"]`, "--x"},
		{``, `command: [sh, -c, "exec $0 $1 $2", /manager, --a, --b]`, "--a|--b"},
		{``, `command: [sh, /entry.sh]`, ""},
		{``, `command: [sh, -c, "F=--x; exec /manager $F --y"]`, ""},
		{``, `command: [sh, -c, "export A=1 && exec /manager --x=$A"]`, ""},
		{``, `command: [sh, -c, "/manager --x & wait 1"]`, ""},
		{``, `command: [bash, -c, ": ${X:=3}; exec /manager --x=$X"]`, ""},
		{``, `command: [bash, -c, "if [ -z \"$X\" ]; then : \"${X=1}\"; fi; exec /manager --x=$X"]`, ""},
		{``, `command: [bash, -c, "unset A; exec /manager --x=$A"]`, ""},
		{``, `command: [bash, -c, "getopts a:b X; exec /manager --x=$X"]`, ""},
		{``, `command: [bash, -c, "((X=3)); exec /manager --x=$X"]`, ""},
		{``, `command: [bash, -c, "let X=3; exec /manager --x=$X"]`, ""},
		{``, `command: [bash, -c, "printf -v X hi; exec /manager --x=$X"]`, ""},
		{``, `command: [bash, -c, "f() { exec /manager --x; }; f --y"]`, ""},
		{``, `command: [bash, -c, "log() { echo $1; }; log start; exec /manager --x"]`, "--x"},
		{``, `command: [sh, -c, "printf %s ${A:-b}; echo -v $A; exec /manager --x"]`, "--x"},
		{"ENTRYPOINT /manager\\\n  --x", ``, "--x"},
		{"ENV LEVEL=1\\\n   OTHER=2\nENTRYPOINT /manager $LEVEL $OTHER", ``, "1|2"},
		{"ENV LEVEL=\"a \\\"b\\\"\" OTHER=c\\ d\nENTRYPOINT /manager \"$LEVEL\" \"$OTHER\"", ``, `a "b"|c d`},
		{`CMD ["/manager", "run"] \`, ``, "run"},
		{"ONBUILD ENTRYPOINT [\"/other\", \"other\"]\nCMD [\"/manager\"]", ``, ""},
		// The Deployment's command replaces ENTRYPOINT and CMD, and its arguments replace CMD.
		{"ENTRYPOINT [\"/manager\",\"run\"]\nCMD [\"--fast\"]", `args: [--slow]`, "run|--slow"},
		{"ENTRYPOINT [\"/manager\",\"run\"]\nCMD [\"--fast\"]", `command: [/manager, serve]`, "serve"},
		{"ENTRYPOINT [\"/manager\",\"run\"]\nCMD [\"--fast\"]", `command: [/manager, serve], args: [--slow]`, "serve|--slow"},
		{`CMD ["/manager", "run"]`, `args: [/manager, --slow]`, "--slow"},
		{`CMD ["/manager", "run"]`, `args: [--slow]`, "--slow"},
		{"FROM has-an-entrypoint\nCMD [\"--fast\"]", ``, "--fast"},
		{``, `args: [run, --slow]`, "run|--slow"},
		{``, `command: [/bin/sh, -c, "exec /manager --level=$LEVEL --ns=$(NS)"], env: [{name: LEVEL, value: "3"}, {name: NS, value: mini-system}]`, "--level=3|--ns=run-1"},
		{``, `command: [sh, -c, "exec /manager --id=$HOSTNAME --api=$KUBERNETES_SERVICE_HOST"]`,
			"--id=manager-6b7f9c8d5-0|--api=127.0.0.1"},
		{``, `command: [sh, -c, "exec /manager --id=$HOSTNAME"], env: [{name: HOSTNAME, value: mine}]`, "--id=mine"},
		{``, `args: ["--api=$(URL)", "$(KUBERNETES_SERVICE_PORT)", "$(HOSTNAME)"], ` +
			`env: [{name: URL, value: "https://$(KUBERNETES_SERVICE_HOST)"}]`, "--api=https://127.0.0.1|6443|$(HOSTNAME)"},
		{``, `args: ["$(KUBERNETES_SERVICE_PORT)"], env: [{name: KUBERNETES_SERVICE_PORT, value: "1"}]`, "1"},
		{``, `args: ["$$(NS)", "$(UNKNOWN)", "$(NS)"], env: [{name: NS, value: a}]`, "$(NS)|$(UNKNOWN)|a"},
		// clusterctl replaces variables in manifests. If the command is a shell, the shell expands them instead.
		{``, `args: ["--gates=A=${A:=true},B=${B_2:=false}", "--ns=${NS:=mini-system}", "--x=${X:=}"]`, "--gates=A=true,B=false|--ns=run-1|--x="},
		{``, `args: [run, "$(LEVEL)"], env: [{name: LEVEL, value: "${L:=2}"}]`, "run|2"},
		{``, `command: [/bin/sh], args: [-c, "exec /manager --level=${LEVEL:=1}"], env: [{name: LEVEL, value: "3"}]`, "--level=3"},
		// The namespace is replaced in the Deployment's arguments, but not in the image's default arguments.
		{`ENTRYPOINT ["/manager","mini-system"]`, `args: [mini-system]`, "mini-system|run-1"},
	} {
		text := test.dockerfile
		if text != "" {
			text = "ARG BASE=b\n" + strings.Replace("FROM a\n"+text, "FROM a\nFROM", "FROM", 1) + "\n"
			if !strings.Contains(text, "\nENV") {
				text = strings.Replace(text, "FROM a\n", "FROM a\nENV NAME=me\n", 1)
			} else {
				text = strings.Replace(text, "\nENV", "\nENV NAME=me\nENV", 1)
			}
		}
		install := installOf(t, containerOf(test.container), "")
		install.Manager.UseImage(FindImage(write(t, map[string]string{"Dockerfile": text, "scripts/start.sh": "#!/bin/bash\nset -e\nexec /manager \"$@\"\n",
			"scripts/tini.sh": "#!/bin/sh\nexec su-exec nobody tini -- /manager \"$@\"\n", "scripts/set.sh": "#!/bin/sh\nset -- /manager \"$@\"\nexec \"$@\"\n",
			"scripts/flag.sh":      "#!/bin/sh\nexec /manager --flag \"$@\"\n",
			"scripts/export.sh":    "#!/bin/sh\nexport X=y\nexec /manager \"$@\"\n",
			"build/bin/entrypoint": "#!/bin/sh -e\nif ! whoami &>/dev/null; then\n  echo root >> /etc/passwd\nfi\nexec ${OPERATOR} $@\n"}), "/tmp/manager", true), false)
		if got := strings.Join(install.Manager.Container("/tmp/manager", "run-1").Arguments, "|"); got != test.want {
			t.Errorf("%s, %s: got %s, want %s", test.dockerfile, test.container, got, test.want)
		}
	}
}

func TestPodVariablesOverrideImageVariables(t *testing.T) {
	install := installOf(t, containerOf("env: [{name: LEVEL, value: pod}]"), "")
	const text = "ARG VERSION=1\nFROM a\nARG VERSION\nENV LEVEL=image HOME=/home PATH=/app:$PATH PYTHONPATH=/app SSL_CERT_FILE=/ca.crt REQUESTS_CA_BUNDLE=/ca.crt NODE_EXTRA_CA_CERTS=/ca.crt \\\n  VERSION=v${VERSION}\nENTRYPOINT A=b exec env C=d /manager\n"
	install.Manager.UseImage(FindImage(write(t, map[string]string{"Dockerfile": text}), "/tmp/manager", true), false)
	expectEqual(t, "variables", install.Manager.Container("/tmp/manager", "run-1").Env, "A=b", "C=d", "LEVEL=pod", "VERSION=v1")
	if want := "some of its variables come from ENV in "; len(install.Notes) != 1 || !strings.Contains(install.Notes[0], want) {
		t.Errorf("got notes %q, want one with %q", install.Notes, want)
	}
}

func TestNoteNamesDockerfileOfArguments(t *testing.T) {
	for _, test := range []struct{ dockerfile, container, want string }{
		{`ENTRYPOINT ["/manager","run"]`, ``, "manager: its arguments come from "},
		{`ENTRYPOINT ["env", "-i", "/manager"]`, ``, "manager: its container runs a shell script that cannot be analyzed, so the operator is started without arguments: if this is wrong, pass its arguments after --"},
		{`ENTRYPOINT for i in 1 2; do /manager; done`, ``, "manager: its container runs a shell script that cannot be analyzed, so the operator is started without arguments: if this is wrong, pass its arguments after --"},
		{`ENTRYPOINT ["/manager"]`, `command: [sh, -c, "for i in 1 2; do /manager; done"]`, "so the operator is started without arguments: if"},
		{`ENTRYPOINT ["/unknown.sh"]`, `args: [--a, b c]`, "so the operator is started with the script's arguments, --a 'b c': if this is wrong, pass its arguments after --"},
		{``, `command: [sh, -c, "cp /c.yaml /tmp/c.yaml && set -e; envsubst < a > b; mkdir -p /x && ` +
			`exec env A=b sh -c 'cp a b; exec /manager'"]`,
			"manager: the commands before the operator in its shell command are not run (cp /c.yaml /tmp/c.yaml; envsubst < a > b; cp a b): " +
				"if the operator needs files that they create, create them yourself, and pass their paths with arguments after --"},
		{``, `command: [sh, -c, "echo a > b\nif x; then\n  y\nfi\nexec /manager"]`,
			"not run (echo a > b; if x; then y fi): if"},
		{``, `command: [sh, -c, "echo $A | tee a && set-up.sh && [ -f a ] && exec /manager"]`, "not run (echo $A | tee a; set-up.sh; [ -f a ]): if"},
		{``, `command: [sh, -c, "echo starting >&2; mkdir -p /x 2>/dev/null && exec /manager"]`, ""},
		{``, `command: [sh, -c, "set -e; cd /app && mkdir -p /x && ulimit -n 9; ` +
			`echo \"$A\" && sleep 1; trap x EXIT\nexec /manager"]`, ""},
		{`ENTRYPOINT ["/manager"]`, ``, ""},
		{`ENTRYPOINT ["/manager", "run"]`, `command: [/manager]`, ""},
	} {
		install := installOf(t, containerOf(test.container), "")
		folder := write(t, map[string]string{"Dockerfile": "FROM a\n" + test.dockerfile})
		install.Manager.UseImage(FindImage(folder, "/tmp/manager", true), false)
		notes := fmt.Sprint(install.Notes)
		if (test.want == "") != (len(install.Notes) == 0) || !strings.Contains(notes, test.want) {
			t.Errorf("%s: got notes %s, want %q", test.dockerfile, notes, test.want)
		}
		install.Notes = nil
		if install.Manager.UseImage(FindImage(folder, "/tmp/manager", true), true); len(install.Notes) > 0 {
			t.Errorf("%s: got notes %s although the arguments are given", test.dockerfile, install.Notes)
		}
	}
}
