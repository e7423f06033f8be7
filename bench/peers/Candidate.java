import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Semaphore;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderLatchListener;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;

/** One candidate of Curator, which puts itself into a queue whenever it is told that it leads. */
abstract class Candidate {
    /** Who was told that it leads, and when. */
    static final class Won {
        final Candidate candidate;
        final double at = now();

        Won(Candidate candidate) {
            this.candidate = candidate;
        }
    }

    final CuratorFramework client;
    final String path, id;
    final BlockingQueue<Won> won;
    /** Whether it stands again as soon as it has left. */
    final boolean atOnce;
    /** When it began to leave. */
    volatile double givenAt;

    /** Milliseconds. */
    static double now() {
        return System.nanoTime() / 1e6;
    }

    Candidate(CuratorFramework client, String path, String id, BlockingQueue<Won> won, boolean atOnce) {
        this.won = won;
        this.atOnce = atOnce;
        this.client = client;
        this.path = path;
        this.id = id;
    }

    abstract void stand() throws Exception;

    /** The leader leaves. */
    abstract void give() throws Exception;

    /** Stands again after `give`, unless it did at once. */
    abstract void again() throws Exception;

    abstract void end() throws Exception;
}

final class Latch extends Candidate {
    private LeaderLatch latch;

    Latch(CuratorFramework client, String path, String id, BlockingQueue<Won> won, boolean atOnce) {
        super(client, path, id, won, atOnce);
    }

    void stand() throws Exception {
        latch = new LeaderLatch(client, path, id);
        latch.addListener(new LeaderLatchListener() {
            @Override
            public void isLeader() {
                won.add(new Won(Latch.this));
            }

            @Override
            public void notLeader() {}
        });
        latch.start();
    }

    void give() throws Exception {
        givenAt = now();
        latch.close();
        if (atOnce) stand();
    }

    void again() throws Exception {
        stand();
    }

    void end() throws Exception {
        if (latch.getState() == LeaderLatch.State.STARTED) latch.close();
    }
}

final class Selector extends Candidate {
    private final LeaderSelector selector;
    private final Semaphore give = new Semaphore(0);

    Selector(CuratorFramework client, String path, String id, BlockingQueue<Won> won, boolean atOnce) {
        super(client, path, id, won, atOnce);
        selector = new LeaderSelector(client, path, new LeaderSelectorListenerAdapter() {
            @Override
            public void takeLeadership(CuratorFramework client) throws Exception {
                won.add(new Won(Selector.this));
                give.acquire();
                givenAt = now();
            }
        });
        selector.setId(id);
        if (atOnce) selector.autoRequeue();
    }

    void stand() {
        selector.start();
    }

    void give() {
        give.release();
    }

    void again() throws Exception {
        while (!selector.requeue()) Thread.sleep(1);
    }

    void end() {
        selector.close();
    }
}
