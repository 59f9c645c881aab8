package controlplane

// Offers returns the folder of the control planes in reserve.
func Offers(binaries string) string {
	folder, _ := offers(binaries)
	return folder
}
