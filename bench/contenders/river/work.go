package main

import (
	"context"
	"io"
	"log/slog"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
)

const (
	mostWorkers = 1_000
	cooldown    = time.Millisecond
	reportEvery = 20 * time.Millisecond
)

// WorkPlan has the names of `WorkPlan` in contender.ts.
type WorkPlan struct {
	Concurrency int      `json:"concurrency"`
	Types       []string `json:"types"`
	IsProfiled  bool     `json:"isProfiled"`
}

// Report has the names of `WorkerReport` in contender.ts.
type Report struct {
	Handled        int       `json:"handled"`
	Ended          int       `json:"ended"`
	FirstAtMs      *float64  `json:"firstAtMs"`
	LatenciesMs    []float64 `json:"latenciesMs"`
	RssMb          float64   `json:"rssMb"`
	CPUMs          float64   `json:"cpuMs"`
	ProcessCPUMs   float64   `json:"processCpuMs"`
	AllocatedBytes *float64  `json:"allocatedBytes,omitempty"`
	IsAnswer       bool      `json:"isAnswer,omitempty"`
}

// Meter counts the jobs of this process.
type Meter struct {
	guard          sync.Mutex
	isProfiled     bool
	handled, ended int
	firstAtMs      *float64
	startCPUMs     float64
	startAllocated *float64
	latenciesMs    []float64
}

func (meter *Meter) begin(args Args) {
	meter.guard.Lock()
	defer meter.guard.Unlock()
	if meter.firstAtMs == nil {
		now := clockMs()
		meter.firstAtMs = &now
		meter.startCPUMs = cpuMs()
	}
	meter.handled++
	if args.SentAtMs > 0 {
		meter.latenciesMs = append(meter.latenciesMs, clockMs()-args.SentAtMs)
	}
}

func (meter *Meter) end() {
	meter.guard.Lock()
	defer meter.guard.Unlock()
	meter.ended++
}

func (meter *Meter) report(isAnswer bool) Report {
	meter.guard.Lock()
	defer meter.guard.Unlock()
	processCPUMs := cpuMs()
	report := Report{
		Handled:      meter.handled,
		Ended:        meter.ended,
		FirstAtMs:    meter.firstAtMs,
		LatenciesMs:  append([]float64{}, meter.latenciesMs...),
		RssMb:        rssMb(),
		CPUMs:        processCPUMs - meter.startCPUMs,
		ProcessCPUMs: processCPUMs,
		IsAnswer:     isAnswer,
	}
	if meter.isProfiled && isAnswer {
		allocated := allocatedBytes()
		if meter.startAllocated == nil {
			meter.startAllocated = &allocated
		} else {
			allocated -= *meter.startAllocated
			report.AllocatedBytes = &allocated
		}
	}
	meter.latenciesMs = nil
	return report
}

func (meter *Meter) ends() int {
	meter.guard.Lock()
	defer meter.guard.Unlock()
	return meter.handled + meter.ended
}

func work(ctx context.Context, pool *pgxpool.Pool) error {
	channel, err := openChannel()
	if err != nil {
		return err
	}
	plan := WorkPlan{Concurrency: mostWorkers, Types: []string{"noop"}}
	if err := readPlan(&plan); err != nil {
		return err
	}
	meter := &Meter{isProfiled: plan.IsProfiled}
	client, err := openClient(pool, &river.Config{
		FetchCooldown: cooldown,
		Logger:        slog.New(slog.NewTextHandler(io.Discard, nil)),
		Queues:        map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: plan.Concurrency}},
		Workers:       workersFor(plan.Types, meter),
	})
	if err != nil {
		return err
	}
	if err := client.Start(ctx); err != nil {
		return err
	}
	channel.send(map[string]bool{"isReady": true})
	go sendReports(channel, meter)
	channel.listen(func(message Message) {
		if message.IsAsk {
			channel.send(meter.report(true))
		}
		if message.IsStop {
			_ = client.Stop(ctx)
			os.Exit(0)
		}
	})
	os.Exit(1)
	return nil
}

func workersFor(types []string, meter *Meter) *river.Workers {
	workers := river.NewWorkers()
	worker := river.WorkFunc(func(_ context.Context, job *river.Job[Args]) error {
		meter.begin(job.Args)
		if job.Args.HandlerMs > 0 {
			time.Sleep(time.Duration(job.Args.HandlerMs * float64(time.Millisecond)))
		}
		meter.end()
		return nil
	})
	for _, name := range types {
		river.AddWorkerArgs(workers, Args{Type: name}, worker)
	}
	return workers
}

func sendReports(channel *Channel, meter *Meter) {
	sent := 0
	for range time.Tick(reportEvery) {
		if now := meter.ends(); now != sent {
			sent = now
			channel.send(meter.report(false))
		}
	}
}

func allocatedBytes() float64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return float64(stats.TotalAlloc)
}

func rssMb() float64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	pages, err := strconv.ParseFloat(strings.Fields(string(text))[1], 64)
	if err != nil {
		return 0
	}
	return pages * float64(os.Getpagesize()) / (1 << 20)
}
