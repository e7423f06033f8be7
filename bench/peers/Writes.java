import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.CountDownLatch;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;

/** Single pipelined setData by ZooKeeper's own client: java Writes ADDRESS ROOT. Command: `write COUNT CONNECTIONS`; answer: ms. */
public final class Writes {
    public static void main(String[] args) throws Exception {
        ZooKeeper[] clients = new ZooKeeper[8];
        for (int i = 0; i < clients.length; i++) {
            CountDownLatch connected = new CountDownLatch(1);
            clients[i] = new ZooKeeper(args[0], 15000, event -> connected.countDown());
            connected.await();
            make(clients[i], args[1]);
            make(clients[i], args[1] + "/java" + i);
        }
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null && !line.equals("quit"); line = in.readLine()) {
            String[] words = line.split(" ");
            System.out.println("ok " + write(clients, args[1], Integer.parseInt(words[1]), Integer.parseInt(words[2])));
        }
        System.exit(0);
    }

    private static double write(ZooKeeper[] clients, String root, int count, int connections) throws Exception {
        CountDownLatch done = new CountDownLatch(count);
        byte[] data = new byte[100];
        long from = System.nanoTime();
        for (int i = 0; i < count; i++) {
            int client = i % connections;
            clients[client].setData(root + "/java" + client, data, -1, (code, path, context, stat) -> {
                if (code != 0) throw new IllegalStateException("setData: " + code);
                done.countDown();
            }, null);
        }
        done.await();
        return (System.nanoTime() - from) / 1e6;
    }

    private static void make(ZooKeeper client, String path) throws Exception {
        for (int slash = path.indexOf('/', 1); ; slash = path.indexOf('/', slash + 1)) {
            try {
                String parent = slash < 0 ? path : path.substring(0, slash);
                client.create(parent, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            } catch (KeeperException.NodeExistsException already) {
                // As it should be.
            }
            if (slash < 0) return;
        }
    }
}
