package project

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// These patterns classify flags and variables by name. The value of a namespaceName is a namespace or a list of
// namespaces. The value of a locationName is an image or a file. The value of an otherName is the name of something
// else, such as a Service, even if it equals the name of the namespace. The value of an excludedName lists namespaces
// that the operator ignores. The run's namespace must not be one of them, because it contains the samples. An ownName
// is a namespaceName whose value is usually the operator's namespace, even if the value is default.
var (
	ownName       = regexp.MustCompile(`(?i)^-*((my|watch(ed)?|target|pod|own|operator|controller|manager|system|leader[-_]?elect(ion)?|resource)[-_]?)*(namespaces?|ns)([-_]?name)?$`)
	namespaceName = regexp.MustCompile(`(?i)(namespaces?([-_]?name)?|(^|[-_.])ns)$`)
	locationName  = regexp.MustCompile(`(?i)(image|repository|registry|path|file|dir|directory|folder)$|image`)
	excludedName  = regexp.MustCompile(`(?i)exclu|ignor|den(y|ied)|exempt|protected|skip|(black|block)-?list`)
	otherName     = regexp.MustCompile(`(?i)(name|id|secret|config-?map|account|service|label|class|prefix|lease|mode|app|component)$`)
)

// clusterctlVariable matches a variable with a default, such as ${NAME:=default}, which clusterctl replaces.
var clusterctlVariable = regexp.MustCompile(`\$\{\w+:=([^}]*)\}`)

// argumentsIn resolves variable references in the arguments, and replaces the Deployment's namespace with namespace.
func (m *Manager) argumentsIn(arguments []string, env map[string]string, namespace string) []string {
	var all []string
	flag := "" // the flag whose value is the next argument
	isShell := func(word string) bool { return shells.MatchString(path.Base(word)) }
	hasShell := slices.ContainsFunc(slices.Concat(m.image.Entrypoint, m.container.Command, m.container.Args), isShell)
	for _, argument := range arguments {
		if !hasShell {
			argument = clusterctlVariable.ReplaceAllString(argument, "$1")
		}
		argument = resolve(argument, env)
		name, value, isAssignment := strings.Cut(argument, "=")
		isFlag := strings.HasPrefix(argument, "-")
		switch {
		case isAssignment && (isFlag || namespaceName.MatchString(name)):
			argument = name + "=" + inNamespace(name, value, m.workload.namespace, namespace)
		case !isFlag:
			argument = inNamespace(flag, argument, m.workload.namespace, namespace)
		}
		flag = ""
		if isFlag && !isAssignment {
			flag = argument
		}
		all = append(all, argument)
	}
	return all
}

const (
	// namespaceKey matches and captures a key or flag whose value is a namespace, and the separator before the value.
	namespaceKey = `([-.\w]*namespaces?)["']?[\s:=][\s:="'\[-]*`
	// earlierElements matches the first elements of a JSON or YAML list, including the separators after them.
	earlierElements = `(?:[-.\w]+["']?(?:\s*,|\n\s*-\s)[\s"']*)+`
)

// inNamespace replaces one namespace (was) with another (now) in the value of a flag or variable. It does not replace
// the same word if it has a different meaning, such as in paths and image names. If the setting lists the namespaces to
// watch, the result is the new namespace, because only that one contains samples.
func inNamespace(name, value, was, now string) string {
	if (watchVariable.MatchString(name) || watchFlag.MatchString(name)) && watched.MatchString(value) {
		return now
	}
	if locationName.MatchString(name) {
		return value
	}
	was = cmp.Or(was, defaultNamespace)
	isExcluded := excludedName.MatchString(name)
	if !isExcluded && namespaceName.MatchString(name) && (was != defaultNamespace || ownName.MatchString(name)) {
		value = listElement.ReplaceAllStringFunc(value, func(element string) string {
			if element == was {
				return now
			}
			return element
		})
	}
	switch {
	case was == defaultNamespace: // a word of many meanings
		return value
	case value == was && !isExcluded && !otherName.MatchString(name):
		return now
	}
	for _, pattern := range []string{
		`(` + namespaceKey + `)` + regexp.QuoteMeta(was) + `($|[^-.\w])`,
		`(` + namespaceKey + earlierElements + `)` + regexp.QuoteMeta(was) + `(["']?[ \t]*(?:$|[^-.\w \t"':=]))`,
	} {
		nested := regexp.MustCompile(`(?i)` + pattern)
		value = nested.ReplaceAllStringFunc(value, func(found string) string {
			if key := nested.FindStringSubmatch(found)[2]; excludedName.MatchString(key) {
				return found
			}
			return nested.ReplaceAllString(found, "${1}"+now+"${3}")
		})
	}
	return tokens.ReplaceAllStringFunc(value, func(token string) string { return tokenInNamespace(token, was, now) })
}

// Objects returns copies of the ConfigMaps and Secrets in which references to the original namespace are replaced.
func (i *Install) Objects(namespace string) []client.Object {
	meta := func(object metav1.Object) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: namespace, Name: object.GetName(), Labels: object.GetLabels(), Annotations: object.GetAnnotations()}
	}
	was := i.Manager.workload.namespace
	var objects []client.Object
	for _, configMap := range i.ConfigMaps {
		data := map[string]string{}
		for key, text := range configMap.Data {
			data[key] = textInNamespace(key, text, was, namespace)
		}
		objects = append(objects, &corev1.ConfigMap{ObjectMeta: meta(configMap), Data: data, BinaryData: configMap.BinaryData})
	}
	for _, secret := range i.Secrets {
		data := map[string][]byte{}
		for key, content := range secret.Data {
			data[key] = []byte(textInNamespace(key, string(content), was, namespace))
		}
		objects = append(objects, &corev1.Secret{ObjectMeta: meta(secret), Type: secret.Type, Data: data})
	}
	return objects
}

// textInNamespace replaces the namespace in a value from a ConfigMap or Secret. The value can be a whole file. A value
// that is equal to the namespace may be a password. It is replaced only if the key ends in "namespace" or similar.
func textInNamespace(key, text, was, now string) string {
	line := strings.TrimSuffix(text, "\n")
	if strings.Contains(line, "\n") {
		return inNamespace("", text, was, now)
	}
	if line == was && !namespaceName.MatchString(key) {
		return text
	}
	return inNamespace(key, line, was, now) + text[len(line):]
}

var (
	listElement = regexp.MustCompile(`[^,;:|\s"'\[\]]+`)
	tokens      = regexp.MustCompile(`[^\s,;="'(){}\[\]|]+`)
	label       = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	port        = regexp.MustCompile(`^(:\d+)?$`)
	account     = regexp.MustCompile(`^system:serviceaccounts?$`)
)

// tokenInNamespace replaces the namespace in a host name, in NAMESPACE/NAME, and in a ServiceAccount's user name.
func tokenInNamespace(text, was, now string) string {
	if first, second, isPair := strings.Cut(text, "/"); isPair && first == was && label.MatchString(second) {
		return now + "/" + second
	}
	if parts := strings.Split(text, ":"); len(parts) > 2 && account.MatchString(parts[0]+":"+parts[1]) && parts[2] == was {
		parts[2] = now
		return strings.Join(parts, ":")
	}
	before, host, isURL := strings.Cut(text, "://")
	if isURL {
		slashes := len(host) - len(strings.TrimLeft(host, "/")) // as in dns:///NAME
		before, host = before+"://"+host[:slashes], host[slashes:]
	} else {
		before, host = "", text
	}
	if at := strings.LastIndex(host, "@"); at >= 0 {
		before, host = before+host[:at+1], host[at+1:]
	}
	after := ""
	if end := strings.IndexAny(host, "/:?#"); end >= 0 {
		host, after = host[:end], host[end:]
	}
	labels := strings.Split(host, ".")
	at := 1 + slices.Index(labels[1:], was) // the first label is usually the name of a Service or Pod
	isService := labels[at] == was && at+1 < len(labels) && labels[at+1] == "svc"
	isShort := at == 1 && len(labels) == 2 && (isURL || port.MatchString(after))
	if !isService && !isShort {
		return text
	}
	labels[at] = now
	return before + strings.Join(labels, ".") + after
}
