import { existsSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { type AttachPlan, createInstaller, type Installer, planText } from '../../compose/index.ts'
import { type Config, findConfigFile, profileOf, readsTypeScript } from '../../config/index.ts'
import { invalidArgument, UnstuckError } from '../../errors/index.ts'
import { describeDifference } from '../../policy/policy-differences.ts'
import { profileFrom } from '../../profile/extend-profile.ts'
import type { Profile } from '../../profile/profile.ts'
import { type Feature, featureNames } from '../../profile/profile.ts'
import { type ConnectionFlags, loadOneShard } from '../connection/command-config.ts'
import { example, withConnection } from '../connection/with-connection.ts'
import { printJson, printLine, printLines, printProgress, stepPrinter } from '../terminal/output.ts'
import { type LayoutName, layoutNames, layouts } from './layouts.ts'
import { configText } from './profile-text.ts'
import { type Proposal, proposeProfile } from './propose-profile.ts'
import { readTableName, showTableName } from './table-name.ts'
import { writeLayout } from './write-layout.ts'

interface AttachFlags extends ConnectionFlags {
  table?: string
  plan?: boolean
  layout?: LayoutName
  out?: string
  roles?: boolean | string
  documentIndexes?: boolean
  features?: Feature[]
  yes?: boolean
}

export function defineAttach(command: Command): void {
  withConnection(command)
    .option('--table <name>', 'schema.name: a table of the profile, or one to draft a profile for')
    .option('--plan', 'print the missing SQL and run nothing')
    .addOption(
      new Option('--layout <tool>', 'write migration files instead of running the SQL').choices(layoutNames),
    )
    .option('--out <folder>', 'folder of the migration files; default: that of the tool')
    .option(
      '--features <names>',
      `also add the columns of these features, separated by commas, or all: ${featureNames.join(', ')}`,
      readFeatures,
    )
    .option(
      '--roles [role]',
      'print the grants a worker needs (default role: unstuck_worker) and run nothing',
    )
    .option('--document-indexes', 'also create the optional indexes of the profile')
    .option('--yes', 'continue with a profile that was just drafted')
    .addHelpText('after', example('unstuck attach --plan --table public.video_jobs'))
    .action(attachCommand)
}

async function attachCommand(flags: AttachFlags): Promise<void> {
  const { plan: isPlan, layout } = flags
  if (isPlan === true && layout !== undefined) {
    throw invalidArgument('--layout', layout, 'not together with --plan: one prints, the other writes')
  }
  const config = loadOneShard(flags)
  // Without a profile the grants are those of the native table.
  const isNative = flags.roles !== undefined && flags.table === undefined
  const proposal = hasProfile(config) || isNative ? null : await proposeProfile(config, flags.table)
  const profile = proposal === null ? chosenTables(config, flags.table) : profileFrom(proposal.profile)
  const installer = createInstaller(config, undefined, profile)
  if (flags.roles !== undefined) return printRoles(installer, flags)
  if (isPlan === true) return printPlan(installer, profile, proposal, flags)
  if (proposal !== null && writeProposal(proposal, flags) === 'stop') return
  if (layout !== undefined) return writeFiles(installer, layout, flags)
  return runAttach(installer, config, profile, flags)
}

const hasProfile = ({ values }: Config) =>
  values.some(({ name, source }) => name === 'profile' && source !== 'default')

/** The tables of the profile, or the one that --table names. */
function chosenTables(config: Config, given: string | undefined): Profile {
  const profile = profileOf(config)
  if (given === undefined) return profile
  const named = readTableName(given)
  const found = profile.tables.find(
    ({ schema, table }) => table === named.table && schema === (named.schema ?? schema),
  )
  if (found !== undefined) return { ...profile, tables: [found] }
  throw invalidArgument('--table', given, `one of profile ${profile.name}: ${namesOf(profile).join(', ')}`)
}

const namesOf = ({ tables }: Profile) => tables.map(showTableName)

function printRoles(installer: Installer, { json, roles }: AttachFlags): void {
  const sql = installer.rolesSql(typeof roles === 'string' ? roles : undefined)
  if (json === true) return printJson({ sql })
  process.stdout.write(sql)
}

async function printPlan(
  installer: Installer,
  profile: Profile,
  proposal: Proposal | null,
  flags: AttachFlags,
): Promise<void> {
  const plan = await installer.plan(additionsOf(flags))
  const { database, steps, policyDrift, notes, tables } = plan
  if (flags.json === true) {
    return printJson({
      database,
      profile: profile.name,
      tables: namesOf(profile),
      additions: tables,
      proposal,
      steps,
      policyDrift,
      notes,
      isUnwritten: true,
    })
  }
  printLine(`-- unstuck attach on database ${database}, profile ${profile.name}: ${countOf(plan)}.`)
  printLine('-- Nothing was run. The database was read in a read-only transaction.')
  if (proposal !== null) printLines(commented(proposalText(proposal)))
  for (const line of [...additionLines(plan), ...notes, ...driftLines(plan)]) printLine(commented(line))
  if (steps.length > 0) process.stdout.write(`\n${planText(plan)}`)
}

function countOf({ steps }: AttachPlan): string {
  if (steps.length === 0) return 'nothing to do, up to date'
  const statements = steps.reduce((sum, step) => sum + step.statements.length, 0)
  return `${steps.length} steps, ${statements} statements`
}

/** Each column that is added, and what for. */
function additionLines({ tables }: AttachPlan): string[] {
  return tables.flatMap(({ table, columns, leftOut }) => {
    const width = Math.max(...columns.map(({ column }) => column.length))
    const count = columns.length === 1 ? '1 column' : `${columns.length} columns`
    return [
      ...(columns.length === 0 ? [] : [`${table} gets ${count}:`]),
      ...columns.map(
        ({ column, feature, why }) =>
          `  ${column.padEnd(width)}  ${feature === null ? '' : `${feature}: `}${why}`,
      ),
      ...(leftOut.length === 0
        ? []
        : [`${table} does without ${leftOut.join(', ')}. To add them:  unstuck attach --features <names>`]),
    ]
  })
}

/** The profile's policy only seeds the stored one, which an operator may have changed on purpose. */
function driftLines({ policyDrift }: AttachPlan): string[] {
  return policyDrift.flatMap(({ table, differences, statement }) => [
    `! ${table} uses its stored policy, which differs from the profile:`,
    ...differences.map((difference) => `    ${describeDifference(difference, 'in the profile')}`),
    `  To store the values of the profile:  ${statement}`,
  ])
}

/** The other notes are for the plan, before anything is done. */
const warningsOf = ({ notes }: AttachPlan) => notes.filter((note) => note.startsWith('!'))

const commented = (text: string) => text.trimEnd().replaceAll(/^(?!--)/gm, '-- ')

const proposalText = ({ profile, questions }: Proposal) => configText(profile, questions, false)

/** Writes a new config file for review; never overwrites one. */
function writeProposal(proposal: Proposal, flags: AttachFlags): 'stop' | 'continue' {
  const { profile, questions, tableName } = proposal
  const isTypeScript = readsTypeScript() && existsSync('tsconfig.json')
  const text = configText(profile, questions, isTypeScript)
  const existing = flags.config ?? findConfigFile(process.cwd())
  if (existing !== undefined) {
    process.stdout.write(text)
    throw new UnstuckError(
      'PRECONDITION_FAILED',
      `${basename(existing)} already exists and was not changed`,
      {
        hint: `Add the profile printed above to it, then run unstuck attach again.`,
      },
    )
  }
  const path = isTypeScript ? 'unstuck.config.ts' : 'unstuck.config.mjs'
  writeFileSync(join(process.cwd(), path), text, { flag: 'wx' })
  if (flags.json !== true) {
    printProgress(`  wrote ${path}: a draft profile for ${tableName}, ${describeCertainty(proposal)}`)
    for (const question of questions) printProgress(`    ? ${question}`)
  }
  if (flags.yes === true) return 'continue'
  if (flags.json === true) printJson({ file: path, ...proposal })
  else printLine('Next:  review it, then  unstuck attach --plan')
  return 'stop'
}

function describeCertainty({ certainty, questions }: Proposal): string {
  const open = questions.length === 1 ? '1 point' : `${questions.length} points`
  return `${certainty === 'sure' ? 'certain' : certainty}; ${open} to review`
}

async function writeFiles(installer: Installer, layout: LayoutName, flags: AttachFlags): Promise<void> {
  const { folder, isConcurrent, next } = layouts[layout]
  const plan = await installer.plan({ ...additionsOf(flags), isConcurrent })
  const files = plan.steps.length === 0 ? [] : writeLayout(plan, layout, flags.out ?? folder, new Date())
  if (flags.json === true) return printJson({ layout, files })
  if (files.length === 0) return printLine('Nothing is missing. No file was written.')
  for (const file of files) printLine(`wrote ${file}`)
  printLine(`Next:  ${layout === 'plain' ? `${next} ${files[0] ?? ''}` : next}`)
}

async function runAttach(
  installer: Installer,
  config: Config,
  profile: Profile,
  flags: AttachFlags,
): Promise<void> {
  const { steps, onStep } = stepPrinter(flags)
  // Inspection comes first: it refuses before anything is changed.
  const plan = await installer.plan(additionsOf(flags))
  if (plan.steps.length > 0)
    await installer.up(onStep, undefined, { ...additionsOf(flags), startsObserved: true })
  const tables = namesOf(profile)
  if (flags.json === true) {
    return printJson({
      schema: config.schema,
      profile: profile.name,
      tables,
      steps,
      observedTables: plan.newTables,
      additions: plan.tables,
      policyDrift: plan.policyDrift,
      notes: plan.notes,
      isChanged: steps.length > 0,
    })
  }
  const isChanged = plan.steps.length > 0
  printLine(
    isChanged
      ? `attached ${tables.join(', ')}: rows are unchanged, existing workers keep working`
      : `nothing to do: ${tables.join(', ')} is up to date`,
  )
  for (const line of [...warningsOf(plan), ...driftLines(plan)]) printLine(line)
  for (const line of nextSteps(plan)) printLine(line)
}

/** A new table starts in observe mode: nothing changes until someone says so (C29). */
function nextSteps({ newTables }: AttachPlan): string[] {
  if (newTables.length === 0) return ['Next:  unstuck mode']
  return [
    `${newTables.join(', ')}: observe mode. Sweeps only record what they would do.`,
    'Next:  unstuck reap           (or a worker, or reap --once by cron; let it observe for a few days)',
    '       unstuck mode           (shows what sweeps would have done)',
    '       unstuck mode reap      (starts requeueing stuck jobs)',
  ]
}

const additionsOf = ({ documentIndexes, features }: AttachFlags) => ({
  ...(documentIndexes === true ? { hasDocumentIndexes: true } : {}),
  ...(features === undefined ? {} : { features }),
})

function readFeatures(given: string): Feature[] {
  if (given === 'all') return [...featureNames]
  const names = given.split(',').map((name) => name.trim())
  const unknown = names.find((name) => !featureNames.some((feature) => feature === name))
  if (unknown !== undefined) throw new InvalidArgumentError(`Features: all, ${featureNames.join(', ')}.`)
  return names as Feature[]
}
