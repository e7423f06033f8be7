package main

import (
	"bufio"
	"os"
	"time"
)

// hold takes the lock, says so, and releases it on a line (or the end) of stdin; before it has the lock, that line withdraws it.
func hold(o options) {
	asked := make(chan struct{})
	go func() {
		bufio.NewScanner(os.Stdin).Scan()
		close(asked)
	}()
	// It looks whether it is to withdraw only between two polls.
	o.wait = time.Second
	lock := o.lock(o.client())
	tell(map[string]any{"event": "waiting", "at": now()})
	lost, err := lock.Lock(asked)
	check(err)
	if lost == nil {
		tell(map[string]any{"event": "withdrawn", "at": now()})
		return
	}
	tell(map[string]any{"event": "held", "at": now()})
	select {
	case <-asked:
		check(lock.Unlock())
		tell(map[string]any{"event": "released", "at": now()})
	case <-lost:
		tell(map[string]any{"event": "lost", "at": now()})
	}
}
