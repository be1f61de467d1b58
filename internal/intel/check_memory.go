package intel

import (
	"hash/maphash"
	"os"
	"sync"

	"github.com/dragoman-dev/dragoman/internal/server"
)

// rememberedChecks bounds how many words are remembered.
const rememberedChecks = 512

// checkMemory knows for words which files mention them without a result after the
// question was asked again, so that a common word does not cost a second question
// each time. The zero value is ready.
type checkMemory struct {
	mu   sync.Mutex // guards left
	left map[checkKey]uint64
}

type checkKey struct {
	server     *server.Server
	generation int
	word       string
}

// settled reports that the same files were left over before.
func (m *checkMemory) settled(key checkKey, silent []string) bool {
	m.mu.Lock()
	left, ok := m.left[key]
	m.mu.Unlock()
	return ok && left == fingerprint(silent)
}

// settle remembers what is left over.
func (m *checkMemory) settle(key checkKey, silent []string) {
	now := fingerprint(silent)
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(silent) == 0 {
		delete(m.left, key)
		return
	}
	if m.left == nil || len(m.left) >= rememberedChecks {
		m.left = map[checkKey]uint64{}
	}
	m.left[key] = now
}

// fingerprint is of the set, whatever its order, and of the files' states, so that
// a changed file is looked at again.
func fingerprint(files []string) (sum uint64) {
	for _, f := range files {
		var state stamp
		if info, err := os.Stat(f); err == nil {
			state = stampOf(info)
		}
		sum += maphash.Comparable(textSeed, struct {
			path  string
			state stamp
		}{f, state})
	}
	return sum
}
