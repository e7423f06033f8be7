package main

import (
	"bufio"
	"os"
)

// hold takes the lock, says so, and releases it on a line (or the end) of stdin.
func hold(o options) {
	lock := o.lock(o.client())
	tell(map[string]any{"event": "waiting", "at": now()})
	lost, err := lock.Lock(nil)
	check(err)
	tell(map[string]any{"event": "held", "at": now()})

	asked := make(chan struct{})
	go func() {
		bufio.NewScanner(os.Stdin).Scan()
		close(asked)
	}()
	select {
	case <-asked:
		check(lock.Unlock())
		tell(map[string]any{"event": "released", "at": now()})
	case <-lost:
		tell(map[string]any{"event": "lost", "at": now()})
	}
}
