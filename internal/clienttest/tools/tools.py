"""Runs SQLAlchemy and Django as VEIL_PORT, VEIL_USER and VEIL_PASSWORD say, and
prints a line for each step: tool, step, what it saw."""
import os
import sys

HOST, PORT = "127.0.0.1", int(os.environ["VEIL_PORT"])
USER, PASSWORD = os.environ["VEIL_USER"], os.environ["VEIL_PASSWORD"]


def step(tool, name, f):
    try:
        print(f"{tool}\t{name}\t{f()!r}", flush=True)
    except Exception as e:  # each is a result of its own
        print(f"{tool}\t{name}\tfails: {str(e).splitlines()[0]}", flush=True)


def sqlalchemy():
    import sqlalchemy as sa
    from sqlalchemy.orm import Session, declarative_base, relationship

    engine = sa.create_engine(f"mysql+pymysql://{USER}:{PASSWORD}@{HOST}:{PORT}/shop")
    inspect = sa.inspect(engine)
    for name, f in {
        "schemas": lambda: "shop" in inspect.get_schema_names(),
        "tables": lambda: sorted(inspect.get_table_names()),
        "views": lambda: inspect.get_view_names(),
        "view": lambda: len(inspect.get_view_definition("company_users")) > 0,
        "columns": lambda: [(c["name"], str(c["type"])) for c in inspect.get_columns("users")],
        "keys": lambda: inspect.get_pk_constraint("users")["constrained_columns"],
        "foreign keys": lambda: [k["name"] for k in inspect.get_foreign_keys("users")],
        "indexes": lambda: sorted(i["name"] for i in inspect.get_indexes("orders")),
        "unique": lambda: [u["column_names"] for u in inspect.get_unique_constraints("users")],
        "checks": lambda: len(inspect.get_check_constraints("users")),
        "comment": lambda: inspect.get_table_comment("companies")["text"],
        "has table": lambda: (inspect.has_table("users"), inspect.has_table("nothing")),
        "all columns": lambda: sorted(t[1] for t in inspect.get_multi_columns()),
    }.items():
        step("SQLAlchemy", name, f)
    base = declarative_base()

    class Company(base):
        __tablename__ = "companies"
        id = sa.Column(sa.Integer, primary_key=True)
        name = sa.Column(sa.String(60))
        users = relationship("User", back_populates="company")

    class User(base):
        __tablename__ = "users"
        id = sa.Column(sa.Integer, primary_key=True)
        name = sa.Column(sa.String(60))
        email = sa.Column(sa.String(120))
        company_id = sa.Column(sa.ForeignKey("companies.id"))
        version = sa.Column(sa.Integer)
        company = relationship("Company", back_populates="users")
        __mapper_args__ = {"version_id_col": version}

    def work(s):
        u = User(name="Sa", email="sa@example.org", company=Company(name="New"))
        s.add(u)
        s.commit()
        u.email = "sb@example.org"
        s.commit()
        found = s.scalars(sa.select(User).where(User.email == "sb@example.org")).one().name
        some = s.execute(sa.select(Company.name, sa.func.count(User.email)).outerjoin(User).group_by(Company.id).order_by(Company.id)).all()
        exists = s.scalar(sa.select(sa.exists().where(User.email == "al@example.org")))
        s.delete(u.company)
        s.delete(u)
        s.commit()
        return found, [tuple(r) for r in some], exists

    with Session(engine) as s:
        step("SQLAlchemy", "unit of work", lambda: work(s))
    step("SQLAlchemy", "create_all", lambda: base.metadata.create_all(engine))
    meta = sa.MetaData()
    step("SQLAlchemy", "reflect", lambda: (meta.reflect(engine, views=True), sorted(meta.tables))[1])


def django():
    import pymysql

    pymysql.version_info = (2, 2, 7, "final", 0)
    pymysql.install_as_MySQLdb()
    from django.conf import settings

    settings.configure(
        DATABASES={"default": {"ENGINE": "django.db.backends.mysql", "HOST": HOST, "PORT": PORT, "USER": USER, "PASSWORD": PASSWORD, "NAME": "shop"}},
        INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth", "django.contrib.sessions"],
        DEFAULT_AUTO_FIELD="django.db.models.AutoField",
        USE_TZ=False,
    )
    import io

    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection, models, transaction

    def inspectdb():
        out = io.StringIO()
        call_command("inspectdb", "users", "orders", "company_users", "--include-views", stdout=out)
        return [l for l in out.getvalue().splitlines() if l.startswith("class ") or "unable" in l.lower() or "# The error" in l]

    step("Django", "inspectdb", inspectdb)
    step("Django", "check", lambda: call_command("check", databases=["default"], stdout=io.StringIO()))

    class User(models.Model):
        name = models.CharField(max_length=60)
        email = models.CharField(max_length=120, null=True)
        phone = models.CharField(max_length=30, null=True)
        version = models.IntegerField(default=0)

        class Meta:
            app_label, managed, db_table = "shop", False, "users"

    def work():
        with transaction.atomic():
            u = User.objects.create(name="Dj", email="dj@example.org", version=1)
            u.email = "dk@example.org"
            u.save()
            got, made = User.objects.get_or_create(email="dk@example.org", defaults={"name": "x"})
            with transaction.atomic():
                User.objects.filter(pk=u.pk).update(version=models.F("version") + 1)
            User.objects.bulk_create([User(name="B1", email="b1@example.org"), User(name="B2", email="b2@example.org")])
            n = User.objects.filter(email__isnull=False).count()
            seen = User.objects.filter(email__in=["dk@example.org"]).values_list("name", flat=True)[0]
            some = User.objects.aggregate(models.Count("email"), models.Max("version"))
            User.objects.filter(name__in=["Dj", "B1", "B2"]).delete()
            return got.name, made, n, seen, some

    step("Django", "queries", work)
    step("Django", "migrate, first table", lambda: connection.schema_editor().__class__.__name__ and call_command("migrate", plan=True, stdout=io.StringIO()))


sqlalchemy()
django()
sys.exit(0)
