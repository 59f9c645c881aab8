package scenarios

import "github.com/operator-assay/assay/harness/scenario"

func create(k TestKind) scenario.Scenario {
	return k.Scenario("create",
		k.ApplySample(),
		k.PodsAreReady(3),
		k.StatusNamesThePods(),
	)
}

func scaleUp(k TestKind) scenario.Scenario {
	return k.Scenario("scale-3-to-4",
		k.ApplySample(),
		k.PodsAreReady(3),
		k.RememberPods(),
		k.ScaleTo(4),
		k.PodsAreReady(4),
		k.RememberedPodsStay(),
		k.StatusNamesThePods(),
	)
}

func scaleToZeroAndBack(k TestKind) scenario.Scenario {
	return k.Scenario("scale-to-0-and-back",
		k.ApplySample(),
		k.PodsAreReady(3),
		k.ScaleTo(0),
		k.NothingServes(),
		k.ScaleTo(3),
		k.PodsAreReady(3),
		k.StatusNamesThePods(),
	)
}

func upgrade(k TestKind) scenario.Scenario {
	return k.Scenario("upgrade-image",
		k.ApplySample(),
		k.PodsAreReady(3),
		k.RememberPods(),
		k.UpgradeImage(),
		k.EveryPodIsReplaced(),
		k.PodsAreReady(3),
		k.StatusNamesThePods(),
	)
}

func healDeployment(k TestKind) scenario.Scenario {
	return k.Scenario("heal-deployment",
		k.ApplySample(),
		k.PodsAreReady(3),
		k.RememberPods(),
		k.DeleteDeployment(),
		k.EveryPodIsReplaced(),
		k.PodsAreReady(3),
		k.StatusNamesThePods(),
	)
}

func repairDrift(k TestKind) scenario.Scenario {
	return k.Scenario("repair-drift",
		k.ApplySample(),
		k.PodsAreReady(3),
		k.RememberPods(),
		k.TamperWithDeployment(),
		k.DeploymentIsRepaired(),
		k.PodsAreReady(3),
		k.StatusNamesThePods(),
	)
}

func remove(k TestKind) scenario.Scenario {
	return k.Scenario("delete",
		k.ApplySample(),
		k.PodsAreReady(3),
		k.Delete(),
		k.NothingIsLeft(),
	)
}

func recreate(k TestKind) scenario.Scenario {
	return k.Scenario("delete-and-recreate",
		k.ApplySample(),
		k.PodsAreReady(3),
		k.RememberPods(),
		k.Delete(),
		k.ApplySample(),
		k.EveryPodIsReplaced(),
		k.PodsAreReady(3),
		k.StatusNamesThePods(),
	)
}
