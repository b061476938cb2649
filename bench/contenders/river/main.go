// The River contender: one process under test, with the arguments and messages of bench/processes/child.mjs.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

const connections = 20

// Args is the payload of a job.
type Args struct {
	I         int     `json:"i"`
	SentAtMs  float64 `json:"sentAtMs,omitempty"`
	HandlerMs float64 `json:"handlerMs,omitempty"`
	Type      string  `json:"type,omitempty"`
}

// Kind is the type of the job.
func (args Args) Kind() string {
	if args.Type == "" {
		return "noop"
	}
	return args.Type
}

func main() {
	if len(os.Args) < 4 {
		fail(fmt.Errorf("usage: river install|work|handle|add <id> <url> [plan]"))
	}
	role, url := os.Args[1], os.Args[3]
	ctx := context.Background()
	pool, err := openPool(ctx, url)
	if err != nil {
		fail(err)
	}
	switch role {
	case "install":
		err = install(ctx, pool)
	case "work", "handle":
		err = work(ctx, pool)
	case "add":
		err = add(ctx, pool)
	default:
		err = fmt.Errorf("%s is not a role", role)
	}
	if err != nil {
		fail(err)
	}
}

func openPool(ctx context.Context, url string) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	config.MaxConns = connections
	return pgxpool.NewWithConfig(ctx, config)
}

func install(ctx context.Context, pool *pgxpool.Pool) error {
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), nil)
	if err != nil {
		return err
	}
	_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return err
}

func openClient(pool *pgxpool.Pool, config *river.Config) (*river.Client[pgx.Tx], error) {
	return river.NewClient(riverpgxv5.New(pool), config)
}

// readPlan reads the last argument, if there is one.
func readPlan(plan any) error {
	if len(os.Args) < 5 {
		return nil
	}
	return json.Unmarshal([]byte(os.Args[4]), plan)
}

func clockMs() float64 {
	return float64(time.Now().UnixMicro()) / 1_000
}

func cpuMs() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		fail(err)
	}
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e6
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
