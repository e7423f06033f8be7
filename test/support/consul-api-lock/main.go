// What the Go client of Consul does with its api.Lock: to see that it excludes us and we exclude it, and to be compared with.
//
//	consul-api-lock hold  -address 127.0.0.1:8500 -key app/leader
//	consul-api-lock bench -address 127.0.0.1:8500 -key app/leader -n 20 -rounds 100 -hold 150ms
//
// Every line of stdout is a JSON object. Instants ("at") are nanoseconds of the monotonic clock that process.hrtime of Node reads.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/consul/api"
	"golang.org/x/sys/unix"
)

type options struct {
	address, token, key string
	ttl, delay, hold    time.Duration
	wait                time.Duration
	n, rounds, warmup   int
	shared              bool
}

func main() {
	if len(os.Args) < 2 {
		fail("usage: consul-api-lock hold|bench [options]")
	}
	o := options{wait: api.DefaultLockWaitTime}
	flags := flag.NewFlagSet(os.Args[1], flag.ExitOnError)
	flags.StringVar(&o.address, "address", "127.0.0.1:8500", "host:port of the Consul agent")
	flags.StringVar(&o.token, "token", "", "ACL token")
	flags.StringVar(&o.key, "key", "", "the lock's key")
	flags.DurationVar(&o.ttl, "ttl", 15*time.Second, "ttl of each session")
	flags.DurationVar(&o.delay, "delay", time.Second, "lock-delay of each session (the client cannot send none)")
	flags.DurationVar(&o.hold, "hold", 50*time.Millisecond, "bench: how long each leads")
	flags.IntVar(&o.n, "n", 2, "bench: candidates")
	flags.IntVar(&o.rounds, "rounds", 100, "bench: hand-overs that count")
	flags.IntVar(&o.warmup, "warmup", 5, "bench: hand-overs before those")
	flags.BoolVar(&o.shared, "shared", false, "bench: one client for all candidates, not one each")
	_ = flags.Parse(os.Args[2:])
	if o.key == "" {
		fail("-key is missing")
	}
	switch os.Args[1] {
	case "hold":
		hold(o)
	case "bench":
		bench(o)
	default:
		fail("unknown command " + os.Args[1])
	}
}

var requests atomic.Int64

// counted counts the requests that pass.
type counted struct{ inner http.RoundTripper }

func (c counted) RoundTrip(r *http.Request) (*http.Response, error) {
	requests.Add(1)
	return c.inner.RoundTrip(r)
}

func (o options) client() *api.Client {
	config := api.DefaultConfig()
	config.Address, config.Token = o.address, o.token
	config.HttpClient = &http.Client{Transport: counted{config.Transport}}
	client, err := api.NewClient(config)
	check(err)
	return client
}

func (o options) lock(client *api.Client) *api.Lock {
	lock, err := client.LockOpts(&api.LockOptions{
		Key:          o.key,
		LockWaitTime: o.wait,
		SessionOpts: &api.SessionEntry{
			Name: "api.Lock", TTL: o.ttl.String(), LockDelay: o.delay, Behavior: api.SessionBehaviorRelease,
		},
	})
	check(err)
	return lock
}

var output sync.Mutex

func tell(line map[string]any) {
	text, err := json.Marshal(line)
	check(err)
	output.Lock()
	defer output.Unlock()
	fmt.Println(string(text))
}

func now() int64 {
	var at unix.Timespec
	check(unix.ClockGettime(unix.CLOCK_MONOTONIC, &at))
	return at.Nano()
}

func check(err error) {
	if err != nil {
		fail(err.Error())
	}
}

func fail(text string) {
	fmt.Fprintln(os.Stderr, text)
	os.Exit(1)
}
