import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.Statement;
import java.util.HexFormat;
import java.util.Properties;

/** Reads the test table over JDBC; arguments: the URL's scheme, its options, the driver's class. See ../README.md. */
public class Client {
    static final String QUERY = "SELECT id, plain, c_int, c_ubig, c_dec, c_text, c_date, c_dt, c_blob FROM people";

    public static void main(String[] args) throws Exception {
        String scheme = args[0];
        if (args.length > 2) Class.forName(args[2]);
        try (Connection c = DriverManager.getConnection(scheme + "//127.0.0.1:" + System.getenv("VEIL_PORT") + "/shop" + args[1], properties(scheme))) {
            read(c, "");
        } catch (Exception e) {
            fail("text", e);
            fail("prepared", e);
        }
    }

    /** Reads the table with both kinds of statements; each line begins with prefix. */
    static void read(Connection c, String prefix) {
        try (Statement s = c.createStatement(); ResultSet r = s.executeQuery(QUERY + " ORDER BY id")) {
            print(prefix + "text", r);
        } catch (Exception e) {
            fail(prefix + "text", e);
        }
        try (PreparedStatement s = c.prepareStatement(QUERY + " WHERE id >= ? ORDER BY id")) {
            s.setInt(1, 1);
            try (ResultSet r = s.executeQuery()) {
                print(prefix + "prepared", r);
            }
        } catch (Exception e) {
            fail(prefix + "prepared", e);
        }
    }

    static Properties properties(String scheme) throws Exception {
        boolean mariadb = scheme.startsWith("jdbc:mariadb");
        String ca = env("VEIL_CA"), mek = env("VEIL_MEK");
        Properties p = new Properties();
        p.setProperty("user", System.getenv("VEIL_USER"));
        p.setProperty("password", System.getenv("VEIL_PASSWORD"));
        p.setProperty("useServerPrepStmts", "true"); // prepare on the server, not in the driver
        if (mariadb) {
            p.setProperty("sslMode", ca.isEmpty() ? "disable" : "verify-full");
            if (!ca.isEmpty()) p.setProperty("serverSslCert", ca);
        } else {
            p.setProperty("sslMode", ca.isEmpty() ? "DISABLED" : "REQUIRED");
        }
        if (!mek.isEmpty()) {
            p.setProperty("MEK", Files.readString(Path.of(mek)).strip());
            p.setProperty("ENC_ALGO", "AES_128_GCM");
        }
        return p;
    }

    static String env(String name) {
        String v = System.getenv(name);
        return v == null ? "" : v;
    }

    static void fail(String kind, Throwable e) {
        Throwable root = e;
        while (root.getCause() != null) root = root.getCause();
        String text = e == root ? e.toString() : e + " (" + root + ")";
        System.out.println(kind + "\terror\t" + text.replaceAll("\\s+", " "));
    }

    static void print(String kind, ResultSet r) throws Exception {
        ResultSetMetaData m = r.getMetaData();
        for (int n = 1; r.next(); n++) {
            for (int i = 1; i <= m.getColumnCount(); i++) {
                Object v = r.getObject(i);
                String type = m.getColumnTypeName(i) + "," + m.getColumnClassName(i) + "," + m.getPrecision(i) + "," + m.getScale(i)
                    + "," + (v == null ? "null" : v.getClass().getName());
                System.out.println(kind + "\t" + n + "\t" + m.getColumnLabel(i) + "\t" + type + "\t" + show(r, i, v));
            }
        }
    }

    static String show(ResultSet r, int i, Object v) throws Exception {
        if (v == null) return "NULL";
        if (v instanceof byte[] b) return "0x" + HexFormat.of().formatHex(b);
        if (v instanceof java.sql.Blob b) return "0x" + HexFormat.of().formatHex(b.getBytes(1, (int) b.length()));
        if (v instanceof BigDecimal d) return d.toPlainString();
        return v.toString();
    }
}
