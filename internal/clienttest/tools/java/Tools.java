import java.nio.file.*;
import java.sql.*;
import java.util.*;

import jakarta.persistence.*;

/** Runs Flyway, Liquibase and Hibernate, and prints a line for each step: tool, step, what it saw. */
public class Tools {
	static final String URL = System.getenv("VEIL_SERVER").equals("mysql")
			? "jdbc:mysql://127.0.0.1:" + System.getenv("VEIL_PORT") + "/shop?allowPublicKeyRetrieval=true"
			: "jdbc:mariadb://127.0.0.1:" + System.getenv("VEIL_PORT") + "/shop";
	static final String USER = System.getenv("VEIL_USER"), PASSWORD = System.getenv("VEIL_PASSWORD");

	interface Step {
		Object run() throws Exception;
	}

	static void step(String tool, String name, Step s) {
		String saw;
		try {
			saw = String.valueOf(s.run());
		} catch (Throwable t) {
			Throwable root = t;
			while (root.getCause() != null && root.getCause() != root)
				root = root.getCause();
			saw = "fails: " + String.valueOf(root.getMessage()).replaceAll("\\(conn=\\d+\\) ?", "").lines().filter(l -> !l.isBlank()).findFirst().orElse("");
		}
		System.out.println(tool + "\t" + name + "\t" + saw);
	}

	@Entity(name = "User")
	@Table(name = "users")
	public static class User {
		@Id
		@GeneratedValue(strategy = GenerationType.IDENTITY)
		public Integer id;
		@Column(length = 60, nullable = false)
		public String name;
		@Column(length = 120)
		public String email;
		@Version
		public int version;
	}

	static void flyway(Path dir) throws Exception {
		Path sql = Files.createDirectories(dir.resolve("sql"));
		Files.writeString(sql.resolve("V2__more.sql"), "INSERT INTO companies (name) VALUES ('Fly');\nDELETE FROM companies WHERE name = 'Fly';\n");
		var f = org.flywaydb.core.Flyway.configure().dataSource(URL, USER, PASSWORD).locations("filesystem:" + sql).baselineVersion("1").table("flyway_" + System.getenv("VEIL_PLACE")).load();
		step("Flyway", "baseline", () -> f.baseline().successfullyBaselined);
		step("Flyway", "info", () -> f.info().all().length);
		step("Flyway", "migrate", () -> f.migrate().migrationsExecuted);
		step("Flyway", "validate", () -> f.validateWithResult().validationSuccessful);
	}

	static void liquibase() throws Exception {
		try (Connection c = DriverManager.getConnection(URL, USER, PASSWORD)) {
			var db = liquibase.database.DatabaseFactory.getInstance().findCorrectDatabaseImplementation(new liquibase.database.jvm.JdbcConnection(c));
			step("Liquibase", "database", db::getShortName);
			step("Liquibase", "snapshot", () -> {
				var s = liquibase.snapshot.SnapshotGeneratorFactory.getInstance().createSnapshot(db.getDefaultSchema(), db, new liquibase.snapshot.SnapshotControl(db));
				var names = new TreeSet<String>();
				for (var t : s.get(liquibase.structure.core.Table.class))
					if (!t.getName().startsWith("flyway"))
						names.add(t.getName() + t.getColumns().size());
				for (var v : s.get(liquibase.structure.core.View.class))
					names.add(v.getName());
				return names + " " + s.get(liquibase.structure.core.ForeignKey.class).size();
			});
		}
	}

	static void hibernate() {
		var f = new org.hibernate.SessionFactory[1];
		step("Hibernate", "validate", () -> {
			f[0] = new org.hibernate.cfg.Configuration().addAnnotatedClass(User.class).setProperty("hibernate.connection.url", URL).setProperty("hibernate.connection.username", USER)
					.setProperty("hibernate.connection.password", PASSWORD).setProperty("hibernate.hbm2ddl.auto", "validate").buildSessionFactory();
			return "ok";
		});
		if (f[0] == null)
			return;
		step("Hibernate", "queries", () -> f[0].fromTransaction(s -> {
			var u = new User();
			u.name = "Hi";
			u.email = "hi@example.org";
			s.persist(u);
			s.flush();
			u.email = "hj@example.org";
			s.flush();
			var one = s.createQuery("from User where email = :e", User.class).setParameter("e", "hj@example.org").getSingleResult();
			long n = s.createQuery("select count(email) from User", Long.class).getSingleResult();
			var page = s.createQuery("from User order by id", User.class).setFirstResult(0).setMaxResults(2).setTimeout(5).getResultList();
			s.remove(u);
			return one.name + n + page.size();
		}));
		step("Hibernate", "close", () -> {
			f[0].close();
			return "ok";
		});
	}

	public static void main(String[] args) throws Exception {
		java.util.logging.LogManager.getLogManager().reset();
		flyway(Path.of(args[0]));
		liquibase();
		hibernate();
	}
}
