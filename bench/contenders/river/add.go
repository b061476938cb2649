package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
)

// Addition has the names of `Addition` in contender.ts.
type Addition struct {
	Mode       string    `json:"mode"`
	Width      int       `json:"width"`
	Count      int       `json:"count"`
	HandlersMs []float64 `json:"handlersMs"`
	Types      []string  `json:"types"`
}

func (addition Addition) argsOf(i int) Args {
	args := Args{I: i}
	if length := len(addition.HandlersMs); length > 0 {
		args.HandlerMs = addition.HandlersMs[i%length]
	}
	if length := len(addition.Types); length > 0 {
		args.Type = addition.Types[i%length]
	}
	return args
}

func add(ctx context.Context, pool *pgxpool.Pool) error {
	channel, err := openChannel()
	if err != nil {
		return err
	}
	var additions []Addition
	if err := readPlan(&additions); err != nil {
		return err
	}
	// Without it, an insert notifies at most every 100 ms.
	client, err := openClient(pool, &river.Config{FetchCooldown: cooldown})
	if err != nil {
		return err
	}
	// Opens a connection.
	if _, err := client.Insert(ctx, Args{I: -1}, nil); err != nil {
		return err
	}
	elapsedMs := []float64{}
	for _, addition := range additions {
		startedAtMs := clockMs()
		if err := addJobs(ctx, pool, client, addition); err != nil {
			return err
		}
		elapsedMs = append(elapsedMs, clockMs()-startedAtMs)
	}
	channel.send(map[string][]float64{"elapsedMs": elapsedMs})
	return nil
}

func addJobs(ctx context.Context, pool *pgxpool.Pool, client *river.Client[pgx.Tx], addition Addition) error {
	switch addition.Mode {
	case "single":
		return addSingly(ctx, client, addition)
	case "batch":
		return addBatches(ctx, client, addition)
	case "transaction":
		return addInTransactions(ctx, pool, client, addition)
	case "paced":
		return addPaced(ctx, client, addition)
	}
	return fmt.Errorf("%s is not a mode", addition.Mode)
}

func addSingly(ctx context.Context, client *river.Client[pgx.Tx], addition Addition) error {
	var next atomic.Int64
	return concurrently(addition.Width, func(int) error {
		for {
			i := int(next.Add(1)) - 1
			if i >= addition.Count {
				return nil
			}
			if _, err := client.Insert(ctx, addition.argsOf(i), nil); err != nil {
				return err
			}
		}
	})
}

func addBatches(ctx context.Context, client *river.Client[pgx.Tx], addition Addition) error {
	for from := 0; from < addition.Count; from += addition.Width {
		params := make([]river.InsertManyParams, min(addition.Width, addition.Count-from))
		for index := range params {
			params[index].Args = addition.argsOf(from + index)
		}
		if _, err := client.InsertManyFast(ctx, params); err != nil {
			return err
		}
	}
	return nil
}

func addInTransactions(
	ctx context.Context, pool *pgxpool.Pool, client *river.Client[pgx.Tx], addition Addition,
) error {
	for i := range addition.Count {
		err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
			_, err := client.InsertTx(ctx, tx, addition.argsOf(i), nil)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func addPaced(ctx context.Context, client *river.Client[pgx.Tx], addition Addition) error {
	startedAt := time.Now()
	return concurrently(addition.Count, func(i int) error {
		due := startedAt.Add(time.Duration(i) * time.Second / time.Duration(addition.Width))
		time.Sleep(time.Until(due))
		_, err := client.Insert(ctx, Args{I: i, SentAtMs: clockMs()}, nil)
		return err
	})
}

// concurrently returns the first error of all calls.
func concurrently(count int, call func(int) error) error {
	var calls sync.WaitGroup
	errors := make(chan error, count)
	for i := range count {
		calls.Go(func() { errors <- call(i) })
	}
	calls.Wait()
	close(errors)
	for err := range errors {
		if err != nil {
			return err
		}
	}
	return nil
}
