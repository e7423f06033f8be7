package main

import (
	"sync"
	"time"
)

// run is what the candidates of one bench share.
type run struct {
	options
	standing sync.WaitGroup
	stop     chan struct{}

	// Whoever holds the lock of Consul holds this one, too: what follows is its.
	leading  sync.Mutex
	passed   int
	from     int
	over     bool
	unlocked int64
	requests int64
}

// bench lets n candidates hand the lock on, each after it has led for a while, and times each hand-over: from the call of Unlock
// to the return of Lock at the next one.
func bench(o options) {
	r := &run{options: o, stop: make(chan struct{}), from: -1}
	shared := o.client()
	r.standing.Add(o.n)
	var ended sync.WaitGroup
	for me := 0; me < o.n; me++ {
		client := shared
		if !o.shared {
			client = o.client()
		}
		lock := o.lock(client)
		ended.Add(1)
		go func() {
			defer ended.Done()
			r.standing.Done()
			for {
				held, err := lock.Lock(r.stop)
				check(err)
				if held == nil {
					return
				}
				if !r.leading.TryLock() {
					fail("two hold the lock at once")
				}
				over := r.lead(me)
				r.unlocked = now()
				r.leading.Unlock()
				check(lock.Unlock())
				if over {
					return
				}
			}
		}()
	}
	ended.Wait()
}

// lead says what the hand-over to `me` took, and whether all is over.
func (r *run) lead(me int) bool {
	at := now()
	if r.over {
		// The last unlock has woken all; one of them has the lock, the others find that they are to stop.
		return true
	}
	if r.from < 0 {
		r.standing.Wait()
		// All have called Lock; until each has its session and waits.
		time.Sleep(time.Second)
	} else {
		r.passed++
	}
	count := r.passed - r.warmup
	if count == 0 {
		r.requests = requests.Load()
		tell(map[string]any{"event": "begin", "at": at})
	}
	if count > 0 {
		tell(map[string]any{"event": "hand-over", "ns": at - r.unlocked, "from": r.from, "to": me, "at": at})
	}
	r.from = me
	time.Sleep(r.hold)
	if count < r.rounds {
		return false
	}
	tell(map[string]any{"event": "end", "at": now(), "requests": requests.Load() - r.requests})
	r.over = true
	close(r.stop)
	return true
}
