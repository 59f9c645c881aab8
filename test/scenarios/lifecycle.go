package scenarios

import "github.com/operator-assay/assay/test/harness/scenario"

// The stories that every kind has.

func create(k Kind) scenario.Scenario {
	return k.Tell("create",
		k.ApplySample(),
		k.PodsAreReady(3),
		k.StatusNamesThePods(),
	)
}

func scaleUp(k Kind) scenario.Scenario {
	return k.Tell("scale-3-to-4",
		k.ApplySample(),
		k.PodsAreReady(3),
		k.RememberPods(),
		k.ScaleTo(4),
		k.PodsAreReady(4),
		k.RememberedPodsStay(),
		k.StatusNamesThePods(),
	)
}

func scaleToZeroAndBack(k Kind) scenario.Scenario {
	return k.Tell("scale-to-0-and-back",
		k.ApplySample(),
		k.PodsAreReady(3),
		k.ScaleTo(0),
		k.NothingServes(),
		k.ScaleTo(3),
		k.PodsAreReady(3),
		k.StatusNamesThePods(),
	)
}

func upgrade(k Kind) scenario.Scenario {
	return k.Tell("upgrade-image",
		k.ApplySample(),
		k.PodsAreReady(3),
		k.RememberPods(),
		k.UpgradeImage(),
		k.EveryPodIsReplaced(),
		k.PodsAreReady(3),
		k.StatusNamesThePods(),
	)
}

func healDeployment(k Kind) scenario.Scenario {
	return k.Tell("heal-deployment",
		k.ApplySample(),
		k.PodsAreReady(3),
		k.RememberPods(),
		k.DeleteDeployment(),
		k.DeploymentIsRestored(),
		k.EveryPodIsReplaced(),
		k.PodsAreReady(3),
		k.StatusNamesThePods(),
	)
}

func repairDrift(k Kind) scenario.Scenario {
	return k.Tell("repair-drift",
		k.ApplySample(),
		k.PodsAreReady(3),
		k.RememberPods(),
		k.TamperWithDeployment(),
		k.DeploymentIsRepaired(),
		k.PodsAreReady(3),
		k.StatusNamesThePods(),
	)
}

func remove(k Kind) scenario.Scenario {
	return k.Tell("delete",
		k.ApplySample(),
		k.PodsAreReady(3),
		k.Delete(),
		k.NothingIsLeft(),
	)
}

func recreate(k Kind) scenario.Scenario {
	return k.Tell("delete-and-recreate",
		k.ApplySample(),
		k.PodsAreReady(3),
		k.RememberPods(),
		k.Delete(),
		k.ApplySample(),
		k.EveryPodIsReplaced(),
		k.PodsAreReady(3),
		k.StatusNamesThePods(),
		k.NoChildIsDisowned(), // the children of before are expected to go
	)
}
