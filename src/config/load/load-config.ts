import { type PolicyOverride, type PresetName, presetPolicies, withOverride } from '../../policy/policy.ts'
import type { Profile } from '../../profile/profile.ts'
import { isShippedProfile, type ProfileName, shippedPolicy } from '../../profile/shipped.ts'
import type { Config, ConfigSources, ShardConfig } from '../config.ts'
import { type ConfigProblem, invalidConfig, nameInFile, problem } from '../config-problem.ts'
import { type CheckedFile, checkConfigFile } from '../file/config-file.ts'
import type { Setting } from '../variables/variable.ts'
import { variables, variablesOf } from '../variables/variables.ts'
import { buildPolicy, type FoundValues } from './build-policy.ts'
import { listValues, readNumberSetting, readSetting, readTextSetting } from './config-values.ts'
import { type FoundValue, findValue, type Search } from './find-value.ts'
import { checkHeartbeatFit, keepsLeases } from './heartbeat-fit.ts'
import { checkKeptRows } from './kept-rows.ts'
import { readShards } from './read-shards.ts'
import { findStrayNames } from './stray-names.ts'

/**
 * Builds the configuration from the given sources and nothing else. Throws INVALID_CONFIG with all problems at once.
 */
export function loadConfig({ env, flags = {}, file }: ConfigSources): Config {
  const problems: ConfigProblem[] = []
  const warnings: string[] = []
  const checked = checkConfigFile(file, problems)
  const own = ownProfileInForce(checked, { env, flags })
  const anyProfile: Search = {
    ...(own === null ? { env, flags } : withoutProfile({ env, flags })),
    file: checked,
    profile: 'native',
    problems,
  }
  const profile = own === null ? findProfile(anyProfile) : variablesProfile(own)
  const profileName = own?.name ?? profile
  const search: Search = { ...anyProfile, profile, profileName }

  const found = findAll(search, own)
  const given = readShards(
    found.get('shards'),
    {
      schema: String(readSetting('schema', found, profile)),
      databaseUrl: (readSetting('databaseUrl', found, profile) as string | null) ?? null,
    },
    problems,
  )
  const isDirect = readSetting('shardDirect', found, profile) === 'on'
  const shards = isDirect ? (given?.map((shard) => ({ ...shard, isDirect })) ?? null) : given
  if (shards !== null && profileName !== 'native')
    problems.push(
      problem(
        found.get('shards')?.name ?? 'shards',
        profileName,
        'the native profile: ids of other tables do not name their shard',
      ),
    )
  problems.push(...findMissing(profile, found))
  const preset = presetOf(found)
  const base = withOverride(own?.tables[0].policy ?? shippedPolicy(profile), preset)
  // Individual settings of the environment and the file override the preset.
  const policy = { ...preset, ...buildPolicy(base, checked.policy, found, problems) }
  const inForce = withOverride(base, policy)
  for (const table of own?.tables ?? [{ attachment: profile, policy: base }])
    if (table.attachment !== 'native')
      checkKeptRows(withOverride(table.policy, policy), profileName, problems)
  if (!keepsLeases(inForce, base)) checkHeartbeatFit(inForce, found, problems, warnings)
  findStrayNames(search, (setting) => found.has(setting), warnings)
  if (env['PGSERVICE'] && !found.has('databaseUrl')) {
    warnings.push('PGSERVICE: is set, but service files are not supported; set DATABASE_URL or PGHOST')
  }
  if (problems.length > 0) throw invalidConfig(problems)

  return {
    ...readSettings(found, profile, shards),
    profile: profileName,
    ownProfile: own,
    policy,
    enqueueMaxAttempts: policy.maxAttempts ?? null,
    heartbeatMs: inForce.heartbeatMs,
    sweepIntervalMs: inForce.sweepIntervalMs,
    values: listValues({ found, profile, preset, filePolicy: checked.policy, inForce }),
    warnings,
  }
}

/** The file's own profile, unless an option or a variable names another one. */
function ownProfileInForce(
  { ownProfile }: CheckedFile,
  { env, flags }: Pick<ConfigSources, 'env' | 'flags'>,
): Profile | null {
  const wanted = flags?.profile ?? env['UNSTUCK_PROFILE']
  return ownProfile !== undefined && (wanted ?? ownProfile.name) === ownProfile.name ? ownProfile : null
}

/** Removes the name of the team's own profile, which would be refused as the name of a shipped one. */
function withoutProfile({ env, flags }: Pick<ConfigSources, 'env' | 'flags'>): Pick<Search, 'env' | 'flags'> {
  return { env: { ...env, UNSTUCK_PROFILE: undefined }, flags: { ...flags, profile: undefined } }
}

/** The variables of a document apply to a profile that extends it. */
const variablesProfile = ({ extends: base }: Profile): ProfileName =>
  base !== undefined && isShippedProfile(base) ? base : 'native'

/** Read first, since it decides which variables apply. An invalid name counts as native, to find the other problems. */
function findProfile(search: Search): ProfileName {
  const name = String(findValue('profile', search)?.value ?? 'native')
  return isShippedProfile(name) ? name : 'native'
}

function findAll(search: Search, own: Profile | null): FoundValues {
  const found = new Map<Setting, FoundValue>()
  const name = nameInFile('profile')
  if (own !== null) found.set('profile', { value: own.name, source: 'file', name, given: own.name })
  for (const setting of new Set(variablesOf(search.profile).flatMap(({ sets }) => sets))) {
    const value = findValue(setting, search)
    if (value !== undefined) found.set(setting, value)
  }
  return found
}

function presetOf(found: FoundValues): PolicyOverride {
  const preset = found.get('preset')
  return preset === undefined ? {} : presetPolicies[preset.value as PresetName]
}

/** Variables that the profile requires and that are not set (OPS-2). */
export function findMissing(profile: ProfileName, found: ReadonlyMap<Setting, unknown>): ConfigProblem[] {
  return variables
    .filter(({ requiredBy, sets }) => requiredBy?.includes(profile) && !sets.some((set) => found.has(set)))
    .map(({ name, proposal }) => ({
      name,
      got: null,
      takes: `a value, required by the profile ${profile}${proposal === undefined ? '' : `; ${proposal} is recommended`}`,
    }))
}

function readSettings(found: FoundValues, profile: ProfileName, shards: ShardConfig[] | null) {
  const text = (setting: Setting) => readTextSetting(setting, found, profile)
  const number = (setting: Setting) => readNumberSetting(setting, found, profile)
  const numberOrNull = (setting: Setting) =>
    readSetting(setting, found, profile) === null ? null : number(setting)
  const [first] = shards ?? []
  const databaseUrl = first?.url ?? text('databaseUrl')
  const unlessSharded = (setting: Setting) => (first === undefined ? text(setting) : null) ?? databaseUrl
  return {
    shards,
    shard: null,
    shardRoute: text('shardRoute') as Config['shardRoute'],
    databaseUrl,
    migrateUrl: unlessSharded('migrateUrl'),
    directUrl: unlessSharded('directUrl'),
    readUrl: unlessSharded('readUrl'),
    schema: first?.schema ?? String(readSetting('schema', found, profile)),
    connections: number('connections'),
    workerConcurrency: number('workerConcurrency'),
    appVersion: text('appVersion'),
    maxPayloadBytes: number('maxPayloadBytes'),
    webhookAllowPrivate: String(text('webhookAllowPrivate')),
    gateway: {
      url: text('gateway.url'),
      timeoutMs: number('gateway.timeoutMs'),
      probeUrl: text('gateway.probeUrl'),
      uploadsDir: text('gateway.uploadsDir'),
      resultsDir: text('gateway.resultsDir'),
    },
    circuit: {
      window: number('circuit.window'),
      windowMs: numberOrNull('circuit.windowMs'),
      failThreshold: number('circuit.failThreshold'),
      cooldownMs: number('circuit.cooldownMs'),
    },
    http: {
      host: String(text('http.host')),
      port: number('http.port'),
      readOnly: String(text('http.readOnly')),
      environment: text('http.environment'),
      publicMetrics: String(text('http.publicMetrics')),
      jwtIssuer: text('http.jwtIssuer'),
      jwtAudience: text('http.jwtAudience'),
      jwtJwksUrl: text('http.jwtJwksUrl'),
      jwtSecret: text('http.jwtSecret'),
      jwtOwnerClaim: text('http.jwtOwnerClaim'),
      proxyHeader: text('http.proxyHeader'),
      proxyFrom: text('http.proxyFrom'),
      proxyRoles: text('http.proxyRoles'),
    },
  }
}
