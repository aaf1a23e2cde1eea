package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/veildb/veildb/internal/bench/study"
	"github.com/veildb/veildb/internal/bench/sysbench"
	"github.com/veildb/veildb/internal/bench/target"
)

// newBenchListCommand is "veildb bench list".
func newBenchListCommand(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List studies, workloads, engines and variants, and why some are not available here",
		Long: `List what veildb bench can run: studies, engines, variants and workloads. What is
not available here says what it lacks.`,
		Example: "  veildb bench list --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := benchListing()
			if err != nil {
				return err
			}
			if env.JSON {
				return printJSON(env, l)
			}
			return l.print(env.Stdout)
		},
	}
}

// A listing is what can be measured here.
type listing struct {
	Studies   []listed `json:"studies"`
	Engines   []listed `json:"engines"`
	Variants  []listed `json:"variants"`
	Workloads []listed `json:"workloads"`
}

// A listed thing is available unless Missing says what it lacks.
type listed struct {
	Name    string `json:"name"`
	Engine  string `json:"engine,omitempty"` // of a variant
	About   string `json:"about,omitempty"`
	Missing string `json:"missing,omitempty"`
}

func benchListing() (*listing, error) {
	l := &listing{}
	for _, name := range study.Names() {
		d, err := study.Find(name)
		if err != nil {
			return nil, err
		}
		l.Studies = append(l.Studies, listed{Name: name, About: d.Title})
	}
	l.Engines = append(l.Engines, listed{Name: "sqlite", About: "in this program"})
	for _, name := range append(target.Engines(), target.Galera) {
		e := listed{Name: name, About: "for studies, bench tpcc, bench sysbench and lab"}
		if name == target.Galera {
			e.About = "MariaDB in a cluster, for studies"
		}
		if found, err := target.Find(name, ""); err != nil {
			e.Missing = err.Error()
		} else {
			e.About = found.Version + ", " + e.About
		}
		l.Engines = append(l.Engines, e)
	}
	for _, engine := range slices.Sorted(maps.Keys(engineVariants)) {
		i := slices.IndexFunc(l.Engines, func(e listed) bool { return e.Name == engine })
		for _, name := range slices.Sorted(maps.Keys(engineVariants[engine])) {
			l.Variants = append(l.Variants, listed{
				Name: name, Engine: engine, About: engineVariants[engine][name], Missing: l.Engines[i].Missing,
			})
		}
	}
	l.Workloads = append(l.Workloads, listed{Name: "tpcc", About: "flavors benchbase, spec, hammerdb"})
	for _, name := range sysbench.Names() {
		l.Workloads = append(l.Workloads, listed{Name: name, About: "sysbench 1.0.20"})
	}
	return l, nil
}

func (l *listing) print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	l.section(t, "STUDIES", l.Studies)
	l.section(t, "ENGINES", l.Engines)
	for _, engine := range l.Engines {
		of := slices.DeleteFunc(slices.Clone(l.Variants), func(v listed) bool { return v.Engine != engine.Name })
		if len(of) > 0 {
			l.section(t, "VARIANTS ("+engine.Name+")", of)
		}
	}
	l.section(t, "WORKLOADS", l.Workloads)
	return t.Flush()
}

func (*listing) section(w io.Writer, title string, list []listed) {
	fmt.Fprintln(w, title)
	for _, e := range list {
		about := e.About
		if e.Missing != "" {
			about = "not available: " + e.Missing
		}
		fmt.Fprintf(w, "  %s\t%s\n", e.Name, about)
	}
	fmt.Fprintln(w)
}
