// Prisma's default DateTime, with Prisma's own client as the team's writer: timestamp(3) without a zone, in UTC.
import { createRequire } from 'node:module'
import { expect, it } from 'vitest'
import { expectRescue, withCommands } from './team-journey.ts'

interface MailJob {
  id: string
  status: string
  lockedAt: Date | null
  retryAfter: Date | null
  updatedAt: Date
}

interface MailJobs {
  create(query: { data: Partial<MailJob> }): Promise<MailJob>
  findMany(query?: object): Promise<MailJob[]>
  findFirst(query: object): Promise<MailJob | null>
  updateMany(query: object): Promise<{ count: number }>
}

/** The client is generated into its own folder by scripts/test/teams.mjs. */
const require = createRequire(new URL('prisma/package.json', import.meta.url))
const { PrismaClient } = require('@prisma/client') as {
  PrismaClient: new (
    options: object,
  ) => { mailJob: MailJobs; zonedMailJob: MailJobs; $disconnect: () => Promise<void> }
}
const { PrismaPg } = require('@prisma/adapter-pg') as { PrismaPg: new (options: object) => object }

/** As `prisma migrate` writes it for prisma/schema.prisma. */
const migration = (model: string, type: string) => `
  create type "JobStatus" as enum ('QUEUED', 'PROCESSING', 'DONE', 'FAILED');
  create table "${model}" (
    "id" text not null, "status" "JobStatus" not null default 'QUEUED', "payload" jsonb not null default '{}',
    "attempts" integer not null default 0, "lockedBy" text, "lockedAt" ${type}, "retryAfter" ${type}, "lastError" text,
    "createdAt" ${type} not null default current_timestamp, "updatedAt" ${type} not null,
    constraint "${model}_pkey" primary key ("id")
  );`

it.each([
  [
    'MailJob',
    'timestamp(3)',
    /-- public\.MailJob: createdAt, updatedAt, retryAfter, lockedAt: no time zone; read and written as UTC/,
  ],
  ['ZonedMailJob', 'timestamptz(6)', /add column if not exists "lease_id" uuid/],
])('OPS-13 REAP-8 a %s of Prisma, with times as %s, is rescued at its time', (model, type, planSays) =>
  withCommands(async (commands) => {
    const { database, run } = commands
    const attachment = model === 'MailJob' ? 'mail_job' : 'zoned_mail_job'
    await database.pool.query(migration(model, type))
    // Prisma sends times without a zone, which PostgreSQL reads in that of the session if the column has one.
    const options = model === 'MailJob' ? {} : { options: '-c timezone=UTC' }
    const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: database.url, ...options }) })
    try {
      const jobs: MailJobs = model === 'MailJob' ? prisma.mailJob : prisma.zonedMailJob
      const running = (minutes: number) => {
        const at = new Date(Date.now() - minutes * 60_000)
        return jobs.create({ data: { status: 'PROCESSING', lockedAt: at, updatedAt: at } })
      }
      const stuck = [await running(180), await running(95)]
      await running(5)
      const write = async () => {
        const { id } = await jobs.create({ data: { retryAfter: new Date(Date.now() - 1_000) } })
        const due = await jobs.findFirst({ where: { status: 'QUEUED', id, retryAfter: { lte: new Date() } } })
        expect(due?.id).toBe(id)
        const claim = {
          where: { id, status: 'QUEUED' },
          data: { status: 'PROCESSING', lockedAt: new Date() },
        }
        expect(await jobs.updateMany(claim)).toEqual({ count: 1 })
        expect(await jobs.updateMany({ where: { id }, data: { status: 'DONE' } })).toEqual({ count: 1 })
      }
      const stuckIds = async () => stuck.map(({ id }) => id)
      await expectRescue(commands, {
        table: `public."${model}"`,
        attachment,
        statusColumn: 'status',
        waiting: 'QUEUED',
        stuckIds,
        planSays,
        write,
      })

      // Attached again: retryAfter is the time before which no worker of ours starts a job, as Prisma's client sees it.
      expect((await run('attach')).exitCode).toBe(0)
      await run('mode', 'reap')
      await jobs.updateMany({ where: {}, data: { status: 'DONE' } })
      const later = await jobs.create({ data: { retryAfter: new Date(Date.now() + 3_600_000) } })
      const due = await jobs.create({ data: { retryAfter: new Date(Date.now() - 60_000) } })
      await database.pool.query(`select from unstuck.claim_jobs__${attachment}('w', array['job'], 10)`)
      const claimed = await jobs.findMany({ where: { status: 'PROCESSING' } })
      expect(claimed.map(({ id }) => id)).toEqual([due.id])
      expect(Math.abs((claimed[0]?.updatedAt.getTime() ?? 0) - Date.now())).toBeLessThan(300_000)
      expect(await jobs.findFirst({ where: { id: later.id } })).toMatchObject({
        status: 'QUEUED',
        retryAfter: later.retryAfter,
      })
    } finally {
      await prisma.$disconnect()
    }
  }),
)
