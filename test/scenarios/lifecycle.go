package scenarios

import "github.com/operator-assay/assay/test/harness/scenario"

// The stories that every kind has.

func create(k kind) scenario.Scenario {
	return k.tell("create",
		k.ApplySample(),
		k.PodsAreReady(3),
		k.StatusNamesThePods(),
	)
}

func scaleUp(k kind) scenario.Scenario {
	return k.tell("scale-3-to-4",
		k.ApplySample(),
		k.PodsAreReady(3),
		k.RememberPods(),
		k.ScaleTo(4),
		k.PodsAreReady(4),
		k.RememberedPodsStay(),
		k.StatusNamesThePods(),
	)
}

func scaleToZeroAndBack(k kind) scenario.Scenario {
	return k.tell("scale-to-0-and-back",
		k.ApplySample(),
		k.PodsAreReady(3),
		k.ScaleTo(0),
		k.NothingServes(),
		k.ScaleTo(3),
		k.PodsAreReady(3),
		k.StatusNamesThePods(),
	)
}

func upgrade(k kind) scenario.Scenario {
	return k.tell("upgrade-image",
		k.ApplySample(),
		k.PodsAreReady(3),
		k.RememberPods(),
		k.UpgradeImage(),
		k.EveryPodIsReplaced(),
		k.PodsAreReady(3),
		k.StatusNamesThePods(),
	)
}

func healDeployment(k kind) scenario.Scenario {
	return k.tell("heal-deployment",
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

func repairDrift(k kind) scenario.Scenario {
	return k.tell("repair-drift",
		k.ApplySample(),
		k.PodsAreReady(3),
		k.RememberPods(),
		k.TamperWithDeployment(),
		k.DeploymentIsRepaired(),
		k.PodsAreReady(3),
		k.StatusNamesThePods(),
	)
}

func remove(k kind) scenario.Scenario {
	return k.tell("delete",
		k.ApplySample(),
		k.PodsAreReady(3),
		k.Delete(),
		k.NothingIsLeft(),
	)
}

func recreate(k kind) scenario.Scenario {
	return k.tell("delete-and-recreate",
		k.ApplySample(),
		k.PodsAreReady(3),
		k.RememberPods(),
		k.Delete(),
		k.ApplySample(),
		k.EveryPodIsReplaced(),
		k.PodsAreReady(3),
		k.StatusNamesThePods(),
		k.NoWarningIsGiven(), // the children of before are expected to go
	)
}
