import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.sql.Connection;
import java.sql.DriverManager;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * What a pool does, with connections of one URL: some at once, which are then cut off, and as many again. With
 * VEIL_NEXT, the gate (process VEIL_KILL) is killed in between, and those that follow go to the one at that port.
 * Prints what Client does, with the number of the connection in front. Arguments as those of Client.
 */
public class Pool {
    static final int SIZE = 4;
    static final List<Socket> sockets = new ArrayList<>();
    static volatile String port = System.getenv("VEIL_PORT");

    public static void main(String[] args) throws Exception {
        Class.forName(args[2]);
        ServerSocket between = new ServerSocket(0, 50, InetAddress.getByName("127.0.0.1"));
        daemon(() -> {
            while (true) pass(between.accept());
        });
        String url = args[0] + "//127.0.0.1:" + between.getLocalPort() + "/shop" + args[1];
        ExecutorService threads = Executors.newFixedThreadPool(SIZE);
        for (int round = 0; round < 2; round++) {
            List<Future<Connection>> opening = new ArrayList<>();
            for (int i = 0; i < SIZE; i++) opening.add(threads.submit(() -> DriverManager.getConnection(url, Client.properties(args[0]))));
            for (int i = 0; i < SIZE; i++) {
                String prefix = 1 + round * SIZE + i + "\t";
                try {
                    Client.read(opening.get(i).get(), prefix);
                } catch (Exception e) {
                    Client.fail(prefix + "text", e);
                    Client.fail(prefix + "prepared", e);
                }
            }
            cut();
            if (round == 0 && !Client.env("VEIL_NEXT").isEmpty()) {
                ProcessHandle.of(Long.parseLong(System.getenv("VEIL_KILL"))).orElseThrow().destroyForcibly();
                port = System.getenv("VEIL_NEXT");
            }
        }
        System.exit(0); // threads of the driver's own
    }

    /** Passes a connection on to the gate. */
    static void pass(Socket client) throws Exception {
        Socket gate = new Socket("127.0.0.1", Integer.parseInt(port));
        synchronized (sockets) {
            sockets.add(client);
            sockets.add(gate);
        }
        daemon(() -> copy(client.getInputStream(), gate.getOutputStream()));
        daemon(() -> copy(gate.getInputStream(), client.getOutputStream()));
    }

    static Void copy(InputStream from, OutputStream to) throws Exception {
        from.transferTo(to);
        return null;
    }

    static void cut() throws Exception {
        synchronized (sockets) {
            for (Socket s : sockets) s.close();
            sockets.clear();
        }
    }

    static void daemon(Callable<Void> work) {
        Thread t = new Thread(() -> {
            try {
                work.call();
            } catch (Exception e) {
                // the connection has been cut
            }
        });
        t.setDaemon(true);
        t.start();
    }
}
