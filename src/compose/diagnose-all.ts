import { type Config, configOfShard } from '../config/index.ts'
import { diagnose } from '../doctor/diagnose.ts'
import { type Finding, problem } from '../doctor/finding.ts'
import { isUnstuckError } from '../errors/index.ts'
import { examine } from './inspect-database.ts'

/** The findings of doctor: of the database, or of one shard after the other, each named in its message. */
export async function diagnoseAll(config: Config): Promise<Finding[]> {
  if (config.shards === null) return diagnose(await examine(config))
  const found: Finding[] = []
  for (const shard of config.shards) {
    const named = (finding: Finding) => ({ ...finding, message: `shard ${shard.number}: ${finding.message}` })
    found.push(...(await diagnoseShard(configOfShard(config, shard))).map(named))
  }
  return found
}

/** A shard that is down keeps nobody from looking at the others. */
async function diagnoseShard(config: Config): Promise<Finding[]> {
  try {
    return diagnose(await examine(config))
  } catch (error) {
    if (!isUnstuckError(error, 'DATABASE_UNREACHABLE')) throw error
    return [problem('connection', error.message, null)]
  }
}
