package controlplane

func Sockets(binaries string) string {
	folder, _ := sockets(binaries)
	return folder
}
