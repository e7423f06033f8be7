"""Candidates of kazoo, all in this process: python kazoo_peer.py lock|election ADDRESS ROOT TTL OBSERVED (the address by
which to see whether all stand again).

A hand-over is measured from just before Lock.release() (or the return of the election's function) in the leader's thread to
the return of Lock.acquire() (or the call of the function) in the next one's thread.
"""
import itertools
import queue
import sys
import threading
import time

from kazoo.client import KazooClient
from kazoo.exceptions import ConnectionClosedError
from kazoo.recipe.election import Election
from kazoo.recipe.lock import Lock

kind, address, root, ttl, observed = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5]
sys.setswitchinterval(0.0005)


def now():
    return time.monotonic_ns() / 1e6


def connect(to=address):
    client = KazooClient(hosts=to, timeout=ttl / 1000.0)
    client.start(timeout=60)
    return client


class Candidate(threading.Thread):
    """Stands again and again until `again` is false."""

    def __init__(self, client, path, name, won, later=True):
        super().__init__(daemon=True)
        self.won = won
        self.give = threading.Event()
        self.again = True
        self.later = later
        self.may_stand = threading.Event()
        self.given_at = 0.0
        make = Lock if kind == "lock" else Election
        self.recipe = make(client, path, name)

    def run(self):
        try:
            self.stand()
        except ConnectionClosedError:
            # Everybody leaves, and the sessions are closed under those who still wait.
            if self.again:
                raise

    def stand(self):
        while self.again:
            if kind == "lock":
                self.recipe.acquire()
                self.lead()
                self.recipe.release()
            else:
                self.recipe.run(self.lead)
            if self.again and self.later:
                self.may_stand.wait()
                self.may_stand.clear()

    def lead(self):
        at = now()
        self.won.put((self, at))
        self.give.wait()
        self.give.clear()
        self.given_at = now()


class Peer:
    def __init__(self):
        self.observer = connect(observed)
        self.clients = []
        self.candidates = []
        self.won = queue.Queue()
        self.leader = None
        self.made = itertools.count()
        self.path = root + "/seat"

    def settle(self, count):
        while len(self.observer.get_children(self.path)) != count:
            time.sleep(0.001)

    def stand(self, candidates, sessions, again):
        self.clients = [connect() for _ in range(sessions)]
        self.observer.ensure_path(self.path)
        self.candidates = [Candidate(self.clients[i % sessions], self.path, "c%d" % i, self.won, again == "later") for i in range(candidates)]
        for candidate in self.candidates:
            candidate.start()
        self.leader, _ = self.won.get()
        self.settle(candidates)
        time.sleep(0.5)
        return []

    def hand_over(self, again):
        leader = self.leader
        leader.again = again
        leader.give.set()
        self.leader, at = self.won.get()
        if again and leader.later:
            leader.may_stand.set()
        return at - leader.given_at

    def hand(self, count, pause):
        times = []
        for _ in range(count):
            times.append(self.hand_over(True))
            self.settle(len(self.candidates))
            time.sleep(pause / 1000.0)
        return times

    def depart(self, count, pause):
        times = []
        for _ in range(count):
            times.append(self.hand_over(False))
            time.sleep(pause / 1000.0)
        return times

    def leave(self):
        for candidate in self.candidates:
            candidate.again = False
            candidate.give.set()
            candidate.may_stand.set()
        for client in self.clients:
            client.stop()
            client.close()
        self.candidates, self.clients = [], []
        self.won = queue.Queue()
        return []

    def first(self, count, pause, names):
        client = connect()
        times = []
        for i in range(count):
            path = root + ("/fresh-%d" % next(self.made) if names == "fresh" else "/used")
            since = now()
            candidate = Candidate(client, path, "only", self.won)
            candidate.start()
            _, at = self.won.get()
            times.append(at - since)
            candidate.again = False
            candidate.give.set()
            candidate.join()
            time.sleep(pause / 1000.0)
        client.stop()
        client.close()
        return times[1:] if names == "used" else times


def word(text):
    return int(text) if text.isdigit() else text


peer = Peer()
for line in iter(sys.stdin.readline, ""):
    name, *words = line.split()
    if name == "quit":
        break
    try:
        print("ok", *getattr(peer, name)(*map(word, words)), flush=True)
    except Exception as error:  # the bench shows it
        print("failed", repr(error).replace("\n", " "), flush=True)
