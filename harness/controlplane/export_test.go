package controlplane

func Offers(binaries string) string {
	folder, _ := offers(binaries)
	return folder
}
