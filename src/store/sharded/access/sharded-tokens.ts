// Tokens are in all shards, so that those that answer can check one. Revoked in one shard is revoked: a shard that was down at that
// time still accepts the token, is overruled by the others, and revokes it.
import type { AccessStore, TokenRecord } from '../../access-store.ts'
import type { Shard } from '../../job-store.ts'
import { askAnswering, readAll, writeAll } from '../routing/fan-out.ts'
import { groupBy } from '../routing/group-by.ts'
import type { ShardSet } from '../routing/shard-set.ts'

type Tokens = Pick<AccessStore, 'createToken' | 'findToken' | 'listTokens' | 'revokeToken'>

/** In the audit log of a shard that was told later. */
const TOLD_BY = 'another shard'

export function bindTokens<Tx>(shards: ShardSet<Tx>, accessOf: (shard: Shard<Tx>) => AccessStore): Tokens {
  /** The next check or list repeats what fails. */
  const revokeIn = (lagging: { shard: Shard<Tx>; name: string }[]) =>
    Promise.allSettled(lagging.map(({ shard, name }) => accessOf(shard).revokeToken(name, TOLD_BY)))
  return {
    createToken: async (token) =>
      (await writeAll(shards, (shard) => accessOf(shard).createToken(token))).every(Boolean),
    async findToken(sha256) {
      const answers = await askAnswering(shards, (shard) => accessOf(shard).findToken(sha256))
      // A shard that was added later does not know the token.
      const valid = answers.flatMap(({ shard, answer }) =>
        answer === null || answer === 'revoked' ? [] : [{ shard, name: answer.name, token: answer }],
      )
      if (answers.every(({ answer }) => answer !== 'revoked')) return valid[0]?.token ?? null
      await revokeIn(valid)
      return 'revoked'
    },
    async listTokens() {
      const { answers } = await readAll(shards, (shard) => accessOf(shard).listTokens())
      const byName = groupBy(
        answers.flatMap(({ shard, answer }) => answer.map((token) => ({ shard, ...token }))),
        ({ name }) => name,
      )
      const lists = Array.from(byName.values(), ({ items }) => items)
      const differing = lists.filter((parts) => parts.some(({ revokedAt }) => revokedAt !== null))
      await revokeIn(differing.flat().filter(({ revokedAt }) => revokedAt === null))
      return lists.map(mergeToken)
    },
    revokeToken: async (name, actor) =>
      (await writeAll(shards, (shard) => accessOf(shard).revokeToken(name, actor))).some(Boolean),
  }
}

function mergeToken(parts: TokenRecord[]): TokenRecord {
  const [newest = parts[0]] = parts.toSorted((a, b) => b.createdAt.getTime() - a.createdAt.getTime())
  const { name, scopes, owner, createdAt, createdBy, expiresAt } = newest as TokenRecord
  const revokedAt = parts.find((part) => part.revokedAt !== null)?.revokedAt ?? null
  return { name, scopes, owner, createdAt, createdBy, expiresAt, revokedAt }
}
