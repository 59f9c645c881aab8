package controlplane

// Offers returns the directory with the control planes in the reserve.
func Offers(binaries string) string {
	folder, _ := offers(binaries)
	return folder
}
