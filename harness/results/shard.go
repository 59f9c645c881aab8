package results

import (
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Shard is a subset of the plans. Index starts at 1. The zero value contains all plans.
type Shard struct {
	Index int `json:"index"`
	Of    int `json:"of"`
}

// completionIndex is the environment variable that contains the index of a Pod in an Indexed Job. The first index is 0.
const completionIndex = "JOB_COMPLETION_INDEX"

// ParseShard parses a shard such as 2/8. In an Indexed Job, the index may be omitted.
func ParseShard(text string) (s Shard, _ error) {
	full := text
	if index, err := strconv.Atoi(os.Getenv(completionIndex)); err == nil && !strings.Contains(text, "/") {
		full = fmt.Sprintf("%d/%s", index+1, text)
	}
	if _, err := fmt.Sscanf(full, "%d/%d", &s.Index, &s.Of); err != nil || s.String() != full || s.Index < 1 || s.Index > s.Of {
		return Shard{}, fmt.Errorf("invalid shard %q: use INDEX/TOTAL with an INDEX from 1 to TOTAL, such as 2/8, or only TOTAL if %s is set", text, completionIndex)
	}
	return s, nil
}

func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Of) }

// Has reports whether the shard contains a plan. The result depends only on the plan, so all machines agree on it.
func (s Shard) Has(plan string) bool {
	if s.Of == 0 {
		return true
	}
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(plan))
	return int(hash.Sum32()%uint32(s.Of)) == s.Index-1 //nolint:gosec // ParseShard limits the number of shards
}

// MergeFolders merges the shards in the folders. It returns an error if a shard is missing or from another exploration.
func MergeFolders(folders []string) (*Exploration, error) {
	var shards []*Exploration
	for _, folder := range folders {
		shard, err := ReadExploration(filepath.Join(folder, ExplorationFile))
		if err != nil {
			return nil, err
		}
		if shard.Shard.Of == 0 {
			return nil, fmt.Errorf("%s contains a complete exploration: pass the directories of its shards", folder)
		}
		shards = append(shards, shard)
	}
	whole := *shards[0]
	whole.Plans, whole.References, whole.WithoutFault = nil, map[string]*Run{}, nil
	byIndex := map[int]*Exploration{}
	end := whole.Started
	for _, s := range shards {
		switch first := shards[0]; {
		case s.Shard.Of != first.Shard.Of || s.Seed != first.Seed || s.About != first.About:
			return nil, fmt.Errorf("shards %s and %s belong to different explorations: operator, versions, scenarios, seed or number of shards differ", first.Shard, s.Shard)
		case s.Interrupted:
			return nil, fmt.Errorf("shard %s is incomplete: rerun it", s.Shard)
		case byIndex[s.Shard.Index] != nil:
			return nil, fmt.Errorf("shard %s is passed twice: remove one of them", s.Shard)
		}
		byIndex[s.Shard.Index] = s
		if s.Started.Before(whole.Started) {
			whole.Started = s.Started
		}
		if ended := s.Started.Add(time.Duration(s.Seconds * float64(time.Second))); ended.After(end) {
			end = ended
		}
	}
	for i := range whole.Shard.Of {
		s := byIndex[i+1]
		if s == nil {
			return nil, fmt.Errorf("shard %d/%d is missing: pass its directory too", i+1, whole.Shard.Of)
		}
		whole.Plans = append(whole.Plans, s.Plans...)
		maps.Copy(whole.References, s.References)
		for _, f := range s.WithoutFault { // the same bug may show up in several shards
			if !slices.ContainsFunc(whole.WithoutFault, func(known FindingWithoutFault) bool { return known.Cause() == f.Cause() }) {
				whole.WithoutFault = append(whole.WithoutFault, f)
			}
		}
	}
	whole.Shard, whole.Seconds = Shard{}, end.Sub(whole.Started).Seconds()
	return &whole, nil
}
