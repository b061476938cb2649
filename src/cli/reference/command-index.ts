// Every command with its group and its description. Its options and its action are loaded when it is used. CPU above bare
// node, medians: --help 263 ms with all commands loaded, 59 ms with none; status 301 ms with all, about 145 ms with its own.
import type { Command } from 'commander'

type Define = (command: Command) => void

export interface CommandEntry {
  name: string
  description: string
  load: () => Promise<Define>
}

/** In the order of the root help. */
export const commandGroups: { title: string; commands: CommandEntry[] }[] = [
  {
    title: 'Run:',
    commands: [
      {
        name: 'worker',
        description: 'runs the handlers of a module until SIGTERM, then drains',
        load: async () => (await import('../workers/worker.ts')).defineWorker,
      },
      {
        name: 'reaper',
        description: 'requeues jobs whose lease expired, at every interval until SIGTERM',
        load: async () => (await import('../workers/reap.ts')).defineReaper,
      },
      {
        name: 'reap',
        description: 'sweeps like reaper; once with --once',
        load: async () => (await import('../workers/reap.ts')).defineReap,
      },
      {
        name: 'prune',
        description: 'deletes finished jobs past the retention, once',
        load: async () => (await import('../workers/prune.ts')).definePrune,
      },
      {
        name: 'serve',
        description: 'serves the HTTP API and the dashboard until SIGTERM; without tokens, local access only',
        load: async () => (await import('../server/serve.ts')).defineServe,
      },
      {
        name: 'demo',
        description:
          'kills real workers: their jobs survive, while a hand-rolled table gets stuck; exit code 1 if a job was lost, finished twice or rescued late',
        load: async () => (await import('../../demo/command.ts')).defineDemo,
      },
    ],
  },
  {
    title: 'Look:',
    commands: [
      {
        name: 'status',
        description: 'shows queue health; exit code 1 if jobs are past their lease or nobody sweeps',
        load: async () => (await import('../health/status.ts')).defineStatus,
      },
      {
        name: 'stuck',
        description: 'lists jobs past their lease; exit code 1 if there are any',
        load: async () => (await import('../health/stuck.ts')).defineStuck,
      },
      {
        name: 'why',
        description: 'explains why a job is not running, and when it will',
        load: async () => (await import('../jobs/why.ts')).defineWhy,
      },
      {
        name: 'top',
        description: 'shows leases, workers and breakers live; once without a terminal',
        load: async () => (await import('../top/top.ts')).defineTop,
      },
      {
        name: 'events',
        description: 'shows recent job events; --follow streams new ones',
        load: async () => (await import('../jobs/events.ts')).defineEvents,
      },
      {
        name: 'limits',
        description: 'lists rate limits and their tokens, most recently used first',
        load: async () => (await import('../queues/limits.ts')).defineLimits,
      },
      {
        name: 'doctor',
        description: 'checks the installation, the tables and the server; exit code 1 if a check fails',
        load: async () => (await import('../health/doctor.ts')).defineDoctor,
      },
      {
        name: 'config',
        description: 'prints every setting with its source',
        load: async () => (await import('../health/config.ts')).defineConfig,
      },
    ],
  },
  {
    title: 'Act:',
    commands: [
      {
        name: 'enqueue',
        description: 'enqueues one job',
        load: async () => (await import('../jobs/enqueue.ts')).defineEnqueue,
      },
      {
        name: 'jobs',
        description: 'lists, retries, cancels and deletes jobs',
        load: async () => (await import('../jobs/jobs.ts')).defineJobs,
      },
      {
        name: 'dead',
        description: 'lists, redrives, marks and deletes dead letters',
        load: async () => (await import('../dead/dead.ts')).defineDead,
      },
      {
        name: 'queues',
        description: 'lists, pauses and resumes queues, and shows their trends',
        load: async () => (await import('../queues/queues.ts')).defineQueues,
      },
      {
        name: 'workers',
        description: 'lists and drains workers',
        load: async () => (await import('../workers/workers.ts')).defineWorkers,
      },
      {
        name: 'breaker',
        description: 'shows and overrides circuit breakers',
        load: async () => (await import('../queues/breaker.ts')).defineBreaker,
      },
      {
        name: 'schedules',
        description: 'lists and deletes recurring jobs',
        load: async () => (await import('../queues/schedules.ts')).defineSchedules,
      },
      {
        name: 'drill',
        description:
          'tests the rescue: kills a canary worker, freezes another, and waits for their jobs to run again; exit code 1 if that took longer than promised',
        load: async () => (await import('../health/drill.ts')).defineDrill,
      },
    ],
  },
  {
    title: 'Set up:',
    commands: [
      {
        name: 'scan',
        description: 'finds job tables from any queue library, and their stuck jobs; writes nothing',
        load: async () => (await import('../attach/scan.ts')).defineScan,
      },
      {
        name: 'init',
        description:
          'writes a config file and a migration, for an existing table or a native one; runs nothing',
        load: async () => (await import('../attach/init.ts')).defineInit,
      },
      {
        name: 'attach',
        description: 'adds leases to an existing job table; additive, and without blocking its writers',
        load: async () => (await import('../attach/attach.ts')).defineAttach,
      },
      {
        name: 'detach',
        description: 'removes everything that attach added; your rows and columns stay',
        load: async () => (await import('../attach/detach.ts')).defineDetach,
      },
      {
        name: 'mode',
        description: 'shows or changes the mode of tables, and what observe mode found',
        load: async () => (await import('../attach/mode.ts')).defineMode,
      },
      {
        name: 'migrate',
        description: 'installs, upgrades and removes the engine',
        load: async () => (await import('../attach/migrate.ts')).defineMigrate,
      },
      {
        name: 'tokens',
        description: 'creates, lists and revokes tokens of the HTTP API',
        load: async () => (await import('../server/tokens.ts')).defineTokens,
      },
      {
        name: 'webhooks',
        description: 'manages webhooks and their deliveries',
        load: async () => (await import('../server/webhooks.ts')).defineWebhooks,
      },
      {
        name: 'completion',
        description: 'prints a completion script for a shell',
        load: async () => (await import('../reference/completion.ts')).defineCompletion,
      },
    ],
  },
]
