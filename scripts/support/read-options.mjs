// @ts-check
// Reads the command line of a tool. An invalid option prints one sentence and the usage, and exits with 2.
import { parseArgs } from 'node:util'

/** @typedef {NonNullable<import('node:util').ParseArgsConfig['options']>} OptionKinds */

const MAX_MINUTES = 24 * 60

export class UsageError extends Error {}

/**
 * Exits the process for --help, and when `interpret` throws a `UsageError`.
 * @template {OptionKinds} Kinds
 * @template Result
 * @param {string} usage
 * @param {Kinds} options
 * @param {(values: ReturnType<typeof parseArgs<{ options: Kinds }>>['values']) => Result} interpret
 * @param {string[]} [args]
 * @returns {Result}
 */
export function readOptions(usage, options, interpret, args = process.argv.slice(2)) {
  try {
    // Anywhere, even beside invalid options.
    if (args.includes('--help')) {
      process.stdout.write(usage)
      process.exit(0)
    }
    return interpret(parse(options, args))
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    process.stderr.write(`${error.message}\n\n${usage}`)
    process.exit(2)
  }
}

/**
 * @template {OptionKinds} Kinds
 * @param {Kinds} options
 * @param {string[]} args
 */
function parse(options, args) {
  try {
    return parseArgs({ args, options }).values
  } catch (error) {
    // Drops Node's advice on arguments that start with a dash.
    const [sentence] = String(error instanceof Error ? error.message : error).split(/\.\s/)
    throw new UsageError(sentence, { cause: error })
  }
}

/**
 * @param {string} name
 * @param {string} text
 * @param {number} [least]
 */
export function wholeNumber(name, text, least = 1) {
  const number = Number(text)
  if (/^\d+$/.test(text) && Number.isSafeInteger(number) && number >= least) return number
  throw new UsageError(`--${name} takes a whole number from ${least}, not '${text}'`)
}

/**
 * @param {string} name
 * @param {string} text
 * @param {number} [most]
 */
export function positiveNumber(name, text, most = Number.MAX_SAFE_INTEGER) {
  const number = Number(text)
  if (/^\d+(\.\d+)?$|^\.\d+$/.test(text) && number > 0 && number <= most) return number
  const limit = most === Number.MAX_SAFE_INTEGER ? '' : ` up to ${most}`
  throw new UsageError(`--${name} takes a number over 0${limit}, not '${text}'`)
}

/** @param {string} text of `--minutes` */
export function minutesInMs(text) {
  return positiveNumber('minutes', text, MAX_MINUTES) * 60_000
}

/**
 * @template {string} Word
 * @param {string} name
 * @param {string} text
 * @param {readonly Word[]} words
 * @returns {Word}
 */
export function oneOf(name, text, words) {
  const found = words.find((word) => word === text)
  if (found !== undefined) return found
  throw new UsageError(`--${name} takes ${words.join(', ')}, not '${text}'`)
}
