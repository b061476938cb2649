import type { AccessStore, AuditEntry, BegunRequest, FeedEvent, TokenRecord } from '../../access-store.ts'
import { type CallQuery, createCallQuery } from '../connection/call-query.ts'
import type { Row } from '../connection/executor.ts'
import type { PostgresStoreOptions } from '../postgres-store.ts'
import { toEvent } from '../rows/job-rows.ts'
import { date, dateOrNull, text } from '../rows/values.ts'

export function createPostgresAccess({
  client,
  table,
  schema = 'unstuck',
}: PostgresStoreOptions): AccessStore {
  const call = createCallQuery(client, { schema, table })
  return { ...bindFeed(call), ...bindTokens(call), ...bindRequests(call) }
}

type Feed = Pick<
  AccessStore,
  | 'readClock'
  | 'findEventsStart'
  | 'lastEventIds'
  | 'listNewEvents'
  | 'listLateEvents'
  | 'readHorizon'
  | 'listAuditEntries'
>

function bindFeed(call: CallQuery): Feed {
  const readClock = async () => {
    const [row = {}] = await call('read_clock', [])
    return { now: date(row['now']), lastEventId: String(row['last_event_id']) }
  }
  return {
    readClock,

    /** Ids have no gaps except those of rolled back transactions. */
    async findEventsStart(events) {
      const from = BigInt((await readClock()).lastEventId) - BigInt(events)
      return String(from > 0n ? from : 0n)
    },

    async lastEventIds() {
      return (await call('last_event_ids', [])).map((row) => String(row['last_id']))
    },

    async listNewEvents(afterId, limit) {
      return (await call('list_new_events', [afterId, limit])).map(toFeedEvent)
    },

    async listLateEvents(ids) {
      return (await call('list_late_events', [ids])).map(toFeedEvent)
    },

    async readHorizon() {
      const [row = {}] = await call('read_horizon', [])
      return { oldestXid: BigInt(String(row['oldest'])), nextXid: BigInt(String(row['next'])) }
    },

    async listAuditEntries({ table, actor, cursor, limit } = {}) {
      const params = [table ?? null, actor ?? null, cursor ?? null, limit ?? 100]
      const rows = await call('list_audit_entries', params)
      return { entries: rows.map(toAuditEntry), next: text(rows[0]?.['next']) }
    },
  }
}

type Tokens = Pick<AccessStore, 'createToken' | 'findToken' | 'listTokens' | 'revokeToken'>

function bindTokens(call: CallQuery): Tokens {
  return {
    async createToken({ name, sha256, scopes, owner, expiresInMs, actor }) {
      const params = [name, sha256, [...scopes], owner ?? null, expiresInMs ?? null, actor ?? null]
      const [row] = await call('create_token', params)
      return row?.['is_created'] === true
    },

    async findToken(sha256) {
      const [row] = await call('find_token', [sha256])
      if (row === undefined) return null
      if (row['is_revoked'] === true) return 'revoked'
      return {
        name: String(row['name']),
        sha256: String(row['sha256']),
        scopes: row['scopes'] as string[],
        owner: text(row['owner']),
      }
    },

    async listTokens() {
      return (await call('list_tokens', [])).map(toTokenRecord)
    },

    async revokeToken(name, actor) {
      return (await call('revoke_token', [name, actor])).length > 0
    },
  }
}

type Requests = Pick<AccessStore, 'beginRequest' | 'finishRequest' | 'forgetRequest'>

function bindRequests(call: CallQuery): Requests {
  return {
    async beginRequest({ actor, key, sha256 }) {
      const [row = {}] = await call('begin_request', [actor, key, sha256])
      const outcome = row['outcome'] as BegunRequest['outcome']
      if (outcome !== 'answered') return { outcome }
      return { outcome, status: Number(row['status']), answer: String(row['answer']) }
    },

    async finishRequest({ actor, key, status, answer }) {
      await call('finish_request', [actor, key, status, answer])
    },

    async forgetRequest({ actor, key }) {
      await call('forget_request', [actor, key])
    },
  }
}

function toFeedEvent(row: Row): FeedEvent {
  return { ...toEvent(row), attachment: String(row['attachment']) }
}

function toAuditEntry(row: Row): AuditEntry {
  return {
    entryId: String(row['id']),
    at: date(row['at']),
    type: String(row['type']),
    actor: String(row['actor']),
    reason: text(row['reason']),
    table: text(row['table_name']),
    jobId: text(row['job_id']),
    subject: text(row['subject']),
    details: row['details'] as AuditEntry['details'],
  }
}

function toTokenRecord(row: Row): TokenRecord {
  return {
    name: String(row['name']),
    scopes: row['scopes'] as string[],
    owner: text(row['owner']),
    createdAt: date(row['created_at']),
    createdBy: text(row['created_by']),
    expiresAt: dateOrNull(row['expires_at']),
    revokedAt: dateOrNull(row['revoked_at']),
  }
}
