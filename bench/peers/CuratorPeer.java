import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.ExponentialBackoffRetry;

/**
 * Candidates of Curator, all in this process: java CuratorPeer latch|selector ADDRESS ROOT TTL OBSERVED (the
 * address by which to see whether all stand again). A hand-over is measured from the
 * call of LeaderLatch.close() to the call of isLeader() of the next one's listener; with LeaderSelector from just before the
 * return of takeLeadership to its call in the next one.
 */
public final class CuratorPeer {
    private static String kind, address, root, observed;
    private static int ttl;

    private static BlockingQueue<Candidate.Won> won = new ArrayBlockingQueue<>(1000);

    private static CuratorFramework connect(String to) throws Exception {
        CuratorFramework client =
                CuratorFrameworkFactory.newClient(to, ttl, 15000, new ExponentialBackoffRetry(100, 3));
        client.start();
        client.blockUntilConnected();
        return client;
    }

    private static Candidate candidate(CuratorFramework client, String path, String id, boolean atOnce) {
        return kind.equals("latch") ? new Latch(client, path, id, won, atOnce) : new Selector(client, path, id, won, atOnce);
    }

    private final CuratorFramework observer;
    private final String path = root + "/seat";
    private final List<CuratorFramework> clients = new ArrayList<>();
    private final List<Candidate> candidates = new ArrayList<>();
    private Candidate leader;
    private int made;

    private CuratorPeer() throws Exception {
        observer = connect(observed);
    }

    private void settle(int count) throws Exception {
        while (observer.getChildren().forPath(path).size() != count) Thread.sleep(1);
    }

    private void stand(int count, int sessions, boolean atOnce) throws Exception {
        for (int i = 0; i < sessions; i++) clients.add(connect(address));
        for (int i = 0; i < count; i++) candidates.add(candidate(clients.get(i % sessions), path, "c" + i, atOnce));
        for (Candidate candidate : candidates) candidate.stand();
        leader = won.take().candidate;
        settle(count);
        Thread.sleep(500);
    }

    private double handOver() throws Exception {
        Candidate old = leader;
        old.give();
        Candidate.Won next = won.take();
        leader = next.candidate;
        return next.at - old.givenAt;
    }

    private List<Double> hand(int count, int pause, boolean again) throws Exception {
        List<Double> times = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Candidate old = leader;
            times.add(handOver());
            if (again) {
                if (!old.atOnce) old.again();
                settle(candidates.size());
            }
            Thread.sleep(pause);
        }
        return times;
    }

    private void leave() throws Exception {
        for (Candidate candidate : candidates) candidate.end();
        for (CuratorFramework client : clients) client.close();
        candidates.clear();
        clients.clear();
        won = new ArrayBlockingQueue<>(1000);
    }

    /** In each election, with two candidates that have a session each, one hand-over after a time in which nothing happened. */
    private List<Double> late(int elections, int wait, int pause) throws Exception {
        List<Candidate> leaders = new ArrayList<>();
        for (int i = 0; i < elections; i++) {
            for (String id : new String[] {"first", "second"}) {
                clients.add(connect(address));
                Candidate candidate = candidate(clients.get(clients.size() - 1), root + "/late-" + i, id, true);
                candidates.add(candidate);
                candidate.stand();
                if (id.equals("first")) leaders.add(won.take().candidate);
            }
        }
        Thread.sleep(wait);
        List<Double> times = new ArrayList<>();
        for (Candidate candidate : leaders) {
            leader = candidate;
            times.add(handOver());
            Thread.sleep(pause);
        }
        leave();
        return times;
    }

    private List<Double> first(int count, int pause, boolean fresh) throws Exception {
        CuratorFramework client = connect(address);
        List<Double> times = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            String path = root + (fresh ? "/fresh-" + made++ : "/used");
            double from = Candidate.now();
            Candidate candidate = candidate(client, path, "only", false);
            candidate.stand();
            times.add(won.take().at - from);
            candidate.give();
            candidate.end();
            Thread.sleep(pause);
        }
        client.close();
        return fresh ? times : times.subList(1, times.size());
    }

    private List<Double> answer(String[] words) throws Exception {
        int first = words.length > 1 ? Integer.parseInt(words[1]) : 0;
        int second = words.length > 2 ? Integer.parseInt(words[2]) : 0;
        switch (words[0]) {
            case "stand":
                stand(first, second, words[3].equals("at-once"));
                return List.of();
            case "hand":
                return hand(first, second, true);
            case "depart":
                return hand(first, second, false);
            case "leave":
                leave();
                return List.of();
            case "late":
                return late(first, second, Integer.parseInt(words[3]));
            case "first":
                return first(first, second, words[3].equals("fresh"));
            default:
                throw new IllegalArgumentException(words[0]);
        }
    }

    public static void main(String[] args) throws Exception {
        kind = args[0];
        address = args[1];
        root = args[2];
        ttl = Integer.parseInt(args[3]);
        observed = args[4];
        CuratorPeer peer = new CuratorPeer();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null && !line.equals("quit"); line = in.readLine()) {
            StringBuilder out = new StringBuilder("ok");
            try {
                for (double time : peer.answer(line.split(" "))) out.append(' ').append(time);
            } catch (Exception error) {
                error.printStackTrace();
                out = new StringBuilder("failed ").append(error.toString().replace('\n', ' '));
            }
            System.out.println(out);
        }
        System.exit(0);
    }
}
