import { existsSync, writeFileSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { createInstaller, type Installer, planText } from '../../compose.ts'
import { type Config, findConfigFile, loadConfig, readsTypeScript } from '../../config/index.ts'
import { isUnstuckError, UnstuckError } from '../../errors/index.ts'
import { completeProfile } from '../../profile/own-profile.ts'
import type { ConnectionFlags } from '../connection/command-config.ts'
import { example, withConnection } from '../connection/with-connection.ts'
import { printJson, printLine, printProgress } from '../terminal/output.ts'
import { type LayoutName, layoutNames, layouts } from './layouts.ts'
import { configText, nativeConfigText } from './profile-text.ts'
import { type Proposal, proposeProfile } from './propose-profile.ts'
import { writeLayout } from './write-layout.ts'

interface InitFlags extends ConnectionFlags {
  table?: string
  layout: LayoutName
  out?: string
  print?: boolean
  force?: boolean
}

export function addInit(program: Command): void {
  withConnection(program.command('init'))
    .description(
      'writes a config file and the migration for a table that is there, or for one of its own; runs nothing',
    )
    .option('--table <name>', 'which table: schema.name; the only one that looks like jobs where absent')
    .addOption(new Option('--layout <tool>', 'of the migration').choices(layoutNames).default('plain'))
    .option('--out <folder>', 'where to write it; the tool’s own folder where absent')
    .option('--print', 'print the migration instead of writing it')
    .option('--force', 'write over a config file that is there')
    .addHelpText('after', example('unstuck init --table public.executor_jobs'))
    .action(initCommand)
}

async function initCommand(flags: InitFlags): Promise<void> {
  const path = configPath(flags)
  const config = loadWithoutFile(flags)
  const proposal = await propose(config, flags)
  const text = textOf(proposal, path)
  const profile = proposal === null ? undefined : completeProfile(proposal.profile)
  const installer = createInstaller(config, undefined, profile)
  // Whatever may fail has been asked for before the first file is written.
  const sql = await migrationOf(installer, config, flags)
  writeFileSync(resolve(path), text, { flag: flags.force === true ? 'w' : 'wx' })
  const files = sql.write()
  const questions = proposal?.questions ?? []
  if (flags.json === true) {
    const { tableName: table = null, certainty = null } = proposal ?? {}
    const printed = flags.print === true ? { sql: sql.text } : {}
    return printJson({ file: path, table, certainty, questions, migrations: files, ...printed })
  }
  printProgress(`wrote ${path}: ${describe(proposal)}`)
  for (const question of questions) printProgress(`  ? ${question}`)
  for (const file of files) printProgress(`wrote ${file}`)
  if (flags.print === true) process.stdout.write(sql.text)
  else for (const line of nextSteps(proposal, flags, files)) printLine(line)
}

const describe = (proposal: Proposal | null) =>
  proposal === null ? 'a table of unstuck’s own' : `a profile for ${proposal.tableName}; nothing was run`

/** A new file, or with --force the one that is there. */
function configPath(flags: InitFlags): string {
  const existing = flags.config ?? findConfigFile(process.cwd())
  if (existing === undefined || (flags.config !== undefined && !existsSync(flags.config)))
    return existing ?? (readsTypeScript() ? 'unstuck.config.ts' : 'unstuck.config.mjs')
  if (flags.force === true) return flags.config ?? basename(existing)
  throw new UnstuckError(
    'PRECONDITION_FAILED',
    `${basename(existing)} is there already, and was not touched`,
    {
      hint: 'Add --force to write over it, or go on with: unstuck attach --plan',
    },
  )
}

/** The file that is there is about to be replaced: what it says does not count. */
function loadWithoutFile({ store, databaseUrl = store, schema }: InitFlags): Config {
  const config = loadConfig({ env: process.env, flags: { databaseUrl, schema } })
  for (const warning of config.warnings) printProgress(`unstuck: warning: ${warning}`)
  return config
}

/** Null: nothing looks like a table of jobs, so there will be one of unstuck's own. */
async function propose(config: Config, { table }: InitFlags): Promise<Proposal | null> {
  if (table === undefined && config.databaseUrl === null) return null
  return proposeProfile(config, table).catch((error: unknown) => {
    if (table === undefined && isUnstuckError(error) && error.code === 'TABLE_NOT_FOUND') return null
    throw error
  })
}

function textOf(proposal: Proposal | null, path: string): string {
  const isTypeScript = /\.m?ts$/.test(path)
  if (proposal === null) return nativeConfigText(isTypeScript)
  return configText(proposal.profile, proposal.questions, isTypeScript)
}

interface Migration {
  text: string
  write(): string[]
}

async function migrationOf(installer: Installer, config: Config, flags: InitFlags): Promise<Migration> {
  const { layout, out, print: isPrinted } = flags
  // Without a database nothing can be looked up: it is what an empty one lacks.
  if (config.databaseUrl === null) {
    const text = installer.sql()
    return { text, write: () => (isPrinted === true ? [] : [writeWhole(text)]) }
  }
  const { isConcurrent, folder } = layouts[layout]
  const plan = await installer.plan({ isConcurrent })
  if (plan.steps.length === 0) return { text: '-- Nothing is missing.\n', write: () => [] }
  return {
    text: planText(plan),
    write: () => (isPrinted === true ? [] : writeLayout(plan, layout, out ?? folder, new Date())),
  }
}

const WHOLE = 'unstuck.sql'

function writeWhole(text: string): string {
  if (existsSync(WHOLE))
    throw new UnstuckError('PRECONDITION_FAILED', `${WHOLE} is there already, and was not touched`)
  writeFileSync(WHOLE, text, { flag: 'wx' })
  return WHOLE
}

function nextSteps(proposal: Proposal | null, { layout }: InitFlags, files: string[]): string[] {
  const { next } = layouts[layout]
  const first = layout === 'plain' ? `${next} ${files[0] ?? WHOLE}` : next
  if (proposal === null)
    return [`Next:  unstuck migrate up     (or: ${first})`, '       unstuck drill --sweep']
  return [
    'Next:  look at the config file and correct it',
    `       unstuck attach         (or: ${first})`,
    '       unstuck mode           (what sweeps would do; then: unstuck mode reap)',
  ]
}
