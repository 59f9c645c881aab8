package incluster

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/operator-assay/assay/harness/results"
)

// shards holds the results of an exploration's completed shards. The results are stored next to the report until all
// shards are complete, so that an interrupted run can be resumed.
type shards struct {
	folder string
	of     int
	have   map[int]*results.Exploration
}

const shardsFolder = "shards"

// explorationFile contains a hash that identifies the exploration to which the stored results belong.
const explorationFile = "exploration"

// openShards loads the results stored by an earlier run of the same exploration. Two explorations are the same if they
// use the same image, arguments and number of shards. Results of a different exploration are removed, and a message is
// written to progress.
func openShards(artifacts string, of int, image v1.Image, arguments []string, progress io.Writer) (*shards, error) {
	s := &shards{folder: filepath.Join(artifacts, shardsFolder), of: of, have: map[int]*results.Exploration{}}
	id, err := image.ConfigName()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(append([]string{id.String(), strconv.Itoa(of)}, arguments...))
	if err != nil {
		return nil, err
	}
	is := fmt.Sprintf("%x\n", sha256.Sum256(text))
	if was, err := os.ReadFile(filepath.Join(s.folder, explorationFile)); err != nil || string(was) != is {
		others, err := filepath.Glob(filepath.Join(s.folder, "*", results.ExplorationFile))
		if err != nil {
			return nil, err
		}
		if len(others) > 0 {
			fmt.Fprintf(progress, "note: removing %d shards of another exploration, which had another image, other flags or another number of shards\n", len(others))
		}
		if err := s.remove(); err != nil {
			return nil, err
		}
		return s, results.WriteFile(filepath.Join(s.folder, explorationFile), []byte(is))
	}
	for shard := range of {
		if result, err := s.read(shard + 1); err == nil {
			s.have[shard+1] = result
		}
	}
	return s, nil
}

func (s *shards) file(shard int) string {
	return filepath.Join(s.folder, strconv.Itoa(shard), results.ExplorationFile)
}

func (s *shards) missing() []int {
	var missing []int
	for shard := range s.of {
		if s.have[shard+1] == nil {
			missing = append(missing, shard+1)
		}
	}
	return missing
}

func (s *shards) keep(shard int, result []byte) error {
	if err := results.WriteFile(s.file(shard), result); err != nil {
		return err
	}
	read, err := s.read(shard)
	if err != nil {
		return err
	}
	s.have[shard] = read
	return nil
}

// read loads a shard's result. It returns an error if the file contains a different shard's result.
func (s *shards) read(shard int) (*results.Exploration, error) {
	result, err := results.ReadExploration(s.file(shard))
	if err != nil {
		return nil, err
	}
	if result.Shard != (results.Shard{Index: shard, Of: s.of}) {
		return nil, fmt.Errorf("the Pod of shard %d/%d has run shard %s", shard, s.of, result.Shard)
	}
	return result, nil
}

func (s *shards) merge() (*results.Exploration, error) {
	var all []*results.Exploration
	for _, result := range s.have {
		all = append(all, result)
	}
	return results.Merge(all)
}

func (s *shards) remove() error { return os.RemoveAll(s.folder) }
