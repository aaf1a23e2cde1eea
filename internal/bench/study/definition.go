// Package study runs a whole study: it has the databases prepared, compares
// the variants workload by workload, checks what is left, and keeps records.
package study

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/veildb/veildb/internal/bench/result"
)

// ErrUnknown means that no study has the name asked for.
var ErrUnknown = errors.New("unknown study")

// ErrDefinition means that a study's definition, or a choice made for it,
// cannot be used.
var ErrDefinition = errors.New("unusable study definition")

//go:embed studies/*.yaml
var embedded embed.FS

// A Definition says what a study compares. It is read from YAML and not
// changed afterwards.
type Definition struct {
	Name     string   `yaml:"name"`
	Title    string   `yaml:"title"`
	Engine   string   `yaml:"engine"`
	Baseline string   `yaml:"baseline"`
	Variants []string `yaml:"variants"`
	// Baselines names what a variant is compared with where it is not
	// Baseline.
	Baselines map[string]string `yaml:"baselines"`
	Threads   []int             `yaml:"threads"`
	// Quick and Full are what a quick and a full run have otherwise.
	Quick  Scale  `yaml:"quick"`
	Full   Scale  `yaml:"full"`
	Budget Budget `yaml:"budget"`
	// Block is the length of one block, reached by choosing the number of
	// transactions in it.
	Block time.Duration `yaml:"block"`
	// Sitting is the least time worth fresh copies: it is longer where those
	// cost seconds. 0 means 1.5 s.
	Sitting time.Duration `yaml:"sitting"`
	// Reopen gives every quad connections of its own; for engines that open
	// one in a moment.
	Reopen    bool              `yaml:"reopen"`
	ClaimPct  float64           `yaml:"claim_pct"` // margin of "no impact"
	Settings  map[string]string `yaml:"settings"`  // of the engine, both arms
	Workloads []Workload        `yaml:"workloads"`
	Published []Published       `yaml:"published"`
	Tables    []Table           `yaml:"tables"` // of the study, to be made again
	Failover  *Failover         `yaml:"failover"`
	// Headline are the comparisons that the report leads with.
	Headline []Headline `yaml:"headline"`
	// Controls says where the baseline is compared with itself: "all", or ""
	// for that, is for each workload and number of threads; "headline" is only
	// where the headline is, so that the other comparisons have the time.
	Controls string `yaml:"controls"`
}

// A Headline names comparisons. Variants empty are all. They and their controls
// come first and have Weight times the time of another comparison.
type Headline struct {
	Workloads []string `yaml:"workloads"`
	Threads   []int    `yaml:"threads"`
	Variants  []string `yaml:"variants"`
	Weight    int      `yaml:"weight"` // 0 means 1
}

// names reports whether h names a place, whatever the variant.
func (h Headline) names(workload string, threads int) bool {
	return slices.Contains(h.Workloads, workload) && slices.Contains(h.Threads, threads)
}

// A Scale is another size of a study. What is zero stays as it is.
type Scale struct {
	Threads    []int         `yaml:"threads"`
	Workloads  []string      `yaml:"workloads"`
	Variants   []string      `yaml:"variants"`
	Warehouses int           `yaml:"warehouses"`
	Tables     int           `yaml:"tables"`
	TableSize  int           `yaml:"table_size"`
	Block      time.Duration `yaml:"block"`
	Sitting    time.Duration `yaml:"sitting"`
	Failovers  int           `yaml:"failovers"` // repeats
}

// Budget is how long a run may take, data loading and checks included.
type Budget struct {
	Default time.Duration `yaml:"default"`
	Quick   time.Duration `yaml:"quick"`
	Full    time.Duration `yaml:"full"`
}

// A Workload is one workload of a study and the size of its data.
type Workload struct {
	// Name is "tpcc", "tprocc" (TPC-C as HammerDB runs it), a sysbench script,
	// or an operation on the data of tprocc: "pg_upgrade" or "convert".
	Name       string `yaml:"name"`
	Flavor     string `yaml:"flavor"`
	Warehouses int    `yaml:"warehouses"`
	Tables     int    `yaml:"tables"`
	TableSize  int    `yaml:"table_size"`
	// Statements sends the transactions of tprocc one statement after the
	// other, instead of as calls of stored procedures, as HammerDB does.
	Statements bool   `yaml:"statements"`
	Rand       string `yaml:"rand"`   // distribution of sysbench's row numbers; "" is special
	Weight     int    `yaml:"weight"` // share of the measuring time; 0 means 1
	Check      bool   `yaml:"check"`  // TPC-C's conditions, too, on every arm
}

// Label is the workload's name in results: with the distribution, if that is
// not sysbench's own.
func (w Workload) Label() string {
	if w.Rand != "" {
		return w.Name + "/" + w.Rand
	}
	return w.Name
}

// operation reports whether w is no load but an operation.
func (w Workload) operation() bool { return slices.Contains(operations, w.Name) }

// orders reports whether w has the data of TPC-C of some flavor.
func (w Workload) orders() bool { return w.Name == "tpcc" || w.Name == "tprocc" || w.operation() }

// dataset names the data a workload runs on; workloads with equal names share
// the loaded original.
func (w Workload) dataset() string {
	name := fmt.Sprintf("sbtest-%d-%d", w.Tables, w.TableSize)
	switch {
	case w.orders():
		return fmt.Sprintf("tpcc-%s-%d", w.Flavor, w.Warehouses)
	case w.Rand != "":
		name += "-" + w.Rand
	}
	return name
}

// Published is a vendor's figure for one workload and variant.
type Published struct {
	Workload    string  `yaml:"workload"`
	Variant     string  `yaml:"variant"`
	Study       string  `yaml:"study"`
	Threads     int     `yaml:"threads"` // 0: whatever the number
	OverheadPct float64 `yaml:"overhead_pct"`
	Note        string  `yaml:"note"`
}

// Names lists the studies in the binary.
func Names() []string {
	entries, err := embedded.ReadDir("studies")
	if err != nil {
		panic("study: internal error: " + err.Error())
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names
}

// Find returns the study of that name. The error matches ErrUnknown.
func Find(name string) (*Definition, error) {
	if !slices.Contains(Names(), name) {
		return nil, fmt.Errorf("%w %q", ErrUnknown, name)
	}
	data, err := embedded.ReadFile("studies/" + name + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("read study: %w", err)
	}
	return Parse(data)
}

// Parse reads a definition and checks it. Unknown fields are refused. Errors
// match ErrDefinition and name the line.
func Parse(data []byte) (*Definition, error) {
	d := new(Definition)
	dec := yaml.NewDecoder(bytes.NewReader(data), yaml.DisallowUnknownField())
	if err := dec.Decode(d); err != nil {
		return nil, fmt.Errorf("%w: %s", ErrDefinition, yaml.FormatError(err, false, false))
	}
	if err := d.validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDefinition, err)
	}
	return d, nil
}

func (d *Definition) validate() error {
	switch {
	case d.Name == "":
		return errors.New("name is missing")
	case d.Engine == "":
		return errors.New("engine is missing")
	case d.Baseline == "":
		return errors.New("baseline is missing")
	case len(d.Variants) == 0:
		return errors.New("variants is empty")
	case slices.Contains(d.Variants, d.Baseline):
		return fmt.Errorf("variants holds the baseline %q; the A/A control is always run", d.Baseline)
	case len(d.Threads) == 0 || slices.Min(d.Threads) < 1:
		return errors.New("threads must be a list of positive numbers")
	case d.Quick.bad() || d.Full.bad():
		return errors.New("quick and full must have positive numbers")
	case len(d.Workloads) == 0:
		return errors.New("workloads is empty")
	case d.Budget.Default <= 0:
		return errors.New("budget.default must be positive")
	case d.Block < 10*time.Millisecond || d.Block > 10*time.Minute:
		return errors.New("block must lie between 10ms and 10m")
	case d.Sitting < 0:
		return errors.New("sitting must not be negative")
	case d.ClaimPct < 0:
		return errors.New("claim_pct must not be negative")
	case d.Controls != "" && d.Controls != ControlAll && d.Controls != ControlHeadline:
		return fmt.Errorf("controls is %q; it may be %s or %s", d.Controls, ControlAll, ControlHeadline)
	}
	for i, h := range d.Headline {
		if len(h.Workloads) == 0 || len(h.Threads) == 0 {
			return fmt.Errorf("headline %d needs workloads and threads", i+1)
		}
		if h.Weight < 0 || h.Weight > 1000 {
			return fmt.Errorf("headline %d has the weight %d; it may be 1 to 1000", i+1, h.Weight)
		}
	}
	for v, base := range d.Baselines {
		if !slices.Contains(d.Variants, v) {
			return fmt.Errorf("baselines names %q, which is no variant", v)
		}
		if base == "" || base == v {
			return fmt.Errorf("the baseline of %s must be another variant", v)
		}
	}
	if d.Failover != nil {
		if err := d.Failover.validate(); err != nil {
			return fmt.Errorf("failover %w", err)
		}
		if len(d.Workloads) > 0 && d.Workloads[0].orders() {
			return errors.New("failover needs tables of sysbench in the first workload")
		}
	}
	for i := range d.Workloads {
		if err := d.Workloads[i].validate(); err != nil {
			return fmt.Errorf("workload %d: %w", i+1, err)
		}
	}
	for i := range d.Tables {
		if err := d.Tables[i].validate(); err != nil {
			return fmt.Errorf("table %d: %w", i+1, err)
		}
	}
	return nil
}

func (s Scale) bad() bool {
	return len(s.Threads) > 0 && slices.Min(s.Threads) < 1 || min(s.Warehouses, s.Tables, s.TableSize, int(s.Block), int(s.Sitting), s.Failovers) < 0
}

// Scaled returns a copy of d at the scale s. Errors match ErrDefinition.
func (d *Definition) Scaled(s Scale) (*Definition, error) {
	n, err := d.Narrow(Choice{Threads: s.Threads, Workloads: s.Workloads, Variants: s.Variants})
	if err != nil {
		return nil, err
	}
	n.Block, n.Sitting = cmp.Or(s.Block, n.Block), cmp.Or(s.Sitting, n.Sitting)
	if n.Failover != nil && s.Failovers > 0 {
		f := *n.Failover
		f.Repeats = s.Failovers
		n.Failover = &f
	}
	n.Workloads = slices.Clone(n.Workloads)
	for i := range n.Workloads {
		w := &n.Workloads[i]
		if w.orders() {
			w.Warehouses = cmp.Or(s.Warehouses, w.Warehouses)
			continue
		}
		w.Tables, w.TableSize = cmp.Or(s.Tables, w.Tables), cmp.Or(s.TableSize, w.TableSize)
	}
	return n, nil
}

func (w *Workload) validate() error {
	if w.Weight == 0 {
		w.Weight = 1
	}
	if w.Weight < 0 {
		return errors.New("weight must not be negative")
	}
	if w.orders() {
		if w.Warehouses < 1 {
			return fmt.Errorf("%s needs warehouses of 1 or more", w.Name)
		}
		switch {
		case w.Name != "tpcc" && w.Flavor != "" && w.Flavor != "hammerdb":
			return fmt.Errorf("%s has the flavor hammerdb, not %s", w.Name, w.Flavor)
		case w.Name != "tpcc":
			w.Flavor = "hammerdb"
		case w.Flavor == "":
			w.Flavor = "benchbase"
		}
		return nil
	}
	if w.Tables < 1 || w.TableSize < 1 {
		return fmt.Errorf("%s needs tables and table_size of 1 or more", w.Name)
	}
	return nil
}

// Choice narrows a definition to what one run is asked for. Zero values keep
// the definition's.
type Choice struct {
	Engine    string
	Variants  []string
	Workloads []string
	Threads   []int
	Budget    time.Duration
}

// settingsOfMySQL are the engines that know the settings of a study for MySQL.
var settingsOfMySQL = map[string]bool{"mariadb": true, "mysql": true}

// Narrow returns a copy of d with only what c names. Errors match
// ErrDefinition and say what there is to choose from.
func (d *Definition) Narrow(c Choice) (*Definition, error) {
	n := *d
	if c.Engine != "" && c.Engine != d.Engine {
		if len(d.Settings) > 0 && !(settingsOfMySQL[c.Engine] && settingsOfMySQL[d.Engine]) {
			return nil, fmt.Errorf("%w: the settings of study %s are those of %s; copy its YAML for %s",
				ErrDefinition, d.Name, d.Engine, c.Engine)
		}
		n.Engine = c.Engine
	}
	if len(c.Variants) > 0 {
		n.Variants = nil
		for _, v := range c.Variants {
			if v == d.Baseline {
				continue
			}
			if !slices.Contains(d.Variants, v) {
				return nil, fmt.Errorf("%w: study %s has no variant %q; it has %s",
					ErrDefinition, d.Name, v, strings.Join(d.Variants, ", "))
			}
			n.Variants = append(n.Variants, v)
		}
	}
	if len(c.Workloads) > 0 {
		n.Workloads = nil
		for _, name := range c.Workloads {
			i := slices.IndexFunc(d.Workloads, func(w Workload) bool { return w.Label() == name })
			if i < 0 {
				return nil, fmt.Errorf("%w: study %s has no workload %q; it has %s",
					ErrDefinition, d.Name, name, strings.Join(d.labels(), ", "))
			}
			n.Workloads = append(n.Workloads, d.Workloads[i])
		}
	}
	if len(c.Threads) > 0 {
		n.Threads = c.Threads
		if slices.Min(c.Threads) < 1 {
			return nil, fmt.Errorf("%w: threads must be positive", ErrDefinition)
		}
	}
	if c.Budget > 0 {
		n.Budget.Default = c.Budget
	}
	return &n, nil
}

func (d *Definition) labels() []string {
	names := make([]string, len(d.Workloads))
	for i, w := range d.Workloads {
		names[i] = w.Label()
	}
	return names
}

// Where controls are; see Definition.Controls.
const (
	ControlAll      = "all"
	ControlHeadline = "headline"
)

// controlled reports whether a place has an A/A control. Where none of the
// headline is in the run, the first place has one.
func (d *Definition) controlled(w, t int) bool {
	if d.Controls != ControlHeadline {
		return true
	}
	any := false
	for i := range d.Workloads {
		for k := range d.Threads {
			in := slices.ContainsFunc(d.Headline, func(h Headline) bool { return h.names(d.Workloads[i].Label(), d.Threads[k]) })
			if in && i == w && k == t {
				return true
			}
			any = any || in
		}
	}
	return !any && w == 0 && t == 0
}

// HeadlineCells lists those of d's comparisons that are its headline.
func (d *Definition) HeadlineCells() []result.Cell {
	var out []result.Cell
	for _, c := range d.Cells() {
		if !c.AA() && d.inHeadline(c) {
			c.Published, c.ClaimPct = nil, 0
			out = append(out, c)
		}
	}
	return out
}

// Cells lists the comparisons of d in the order they run: for each workload
// and thread count the A/A control first, where there is one, then the variants.
func (d *Definition) Cells() []result.Cell {
	var cells []result.Cell
	for i, w := range d.Workloads {
		for k, threads := range d.Threads {
			variants := d.Variants
			if d.controlled(i, k) {
				variants = append([]string{d.Baseline}, d.Variants...)
			}
			for _, v := range variants {
				cells = append(cells, result.Cell{
					Engine: d.Engine, Variant: v, Baseline: d.baselineOf(v),
					Workload: w.Label(), Threads: threads,
					Published: d.published(w.Label(), v, threads), ClaimPct: d.ClaimPct,
				})
			}
		}
	}
	return cells
}

// Arms lists what is compared, each once: the baselines and the variants.
func (d *Definition) Arms() []string {
	var arms []string
	for _, v := range append([]string{d.Baseline}, d.Variants...) {
		for _, name := range []string{d.baselineOf(v), v} {
			if !slices.Contains(arms, name) {
				arms = append(arms, name)
			}
		}
	}
	return arms
}

func (d *Definition) baselineOf(variant string) string {
	if b := d.Baselines[variant]; b != "" {
		return b
	}
	return d.Baseline
}

func (d *Definition) published(workload, variant string, threads int) *result.Published {
	for _, p := range d.Published {
		if p.Workload == workload && p.Variant == variant && (p.Threads == 0 || p.Threads == threads) {
			return &result.Published{Study: p.Study, OverheadPct: p.OverheadPct, Note: p.Note}
		}
	}
	for _, t := range d.Tables {
		for _, r := range t.lines() {
			if change := r.Published.Change; t.overhead() && change != nil && r.Workload == workload && r.Variant == variant && r.Threads == threads {
				return &result.Published{Study: t.Study, OverheadPct: *change, Note: t.Title}
			}
		}
	}
	return nil
}

// Config is what of d belongs in a run's header.
func (d *Definition) Config() map[string]any {
	workloads := make([]any, len(d.Workloads))
	for i, w := range d.Workloads {
		m := map[string]any{"name": w.Label(), "weight": w.Weight}
		if w.orders() {
			m["flavor"], m["warehouses"] = w.Flavor, w.Warehouses
			if w.Name == "tprocc" {
				m["procedures"] = !w.Statements
			}
		} else {
			m["tables"], m["table_size"] = w.Tables, w.TableSize
		}
		workloads[i] = m
	}
	config := map[string]any{
		"engine": d.Engine, "baseline": d.Baseline, "baselines": d.Baselines, "variants": d.Variants, "threads": d.Threads,
		"budget": d.Budget.Default.String(), "block": d.Block.String(),
		"settings": d.Settings, "workloads": workloads,
	}
	if d.Controls != "" {
		config["controls"] = d.Controls
	}
	if f := d.Failover; f != nil {
		config["failover"] = map[string]any{"threads": f.Threads, "steady": f.Steady.String(), "repeats": f.Repeats}
	}
	return config
}

// Bytes that a row of sysbench and a warehouse take on disk, indexes included;
// those of SQLite and PostgreSQL are less.
const (
	bytesPerRow       = 270
	bytesPerWarehouse = 130 << 20
)

// DataBytes estimates the size of each dataset.
func (d *Definition) DataBytes() []int64 {
	var sizes []int64
	seen := map[string]bool{}
	for _, w := range d.Workloads {
		if seen[w.dataset()] {
			continue
		}
		seen[w.dataset()] = true
		size := int64(w.Warehouses) * bytesPerWarehouse
		if !w.orders() {
			size = int64(w.Tables) * int64(w.TableSize) * bytesPerRow
		}
		sizes = append(sizes, size)
	}
	return sizes
}
