export { type CatalogEntry, type ErrorCode, type ExitCode, errorCatalog, exitCodes } from './catalog.ts'
export { closestName } from './closest-name.ts'
export {
  type CodeSet,
  defaultCodes,
  isRetryableCode,
  type PublicCode,
  type PublicCodeOptions,
  publicCodes,
  type RetryableOptions,
  toPublicCode,
} from './job-codes.ts'
export {
  criticalError,
  isJobError,
  JobError,
  type JobErrorCategory,
  type JobErrorOptions,
  permanentError,
  type ReleaseCause,
  releaseError,
  transientError,
} from './job-error.ts'
export { requireKnownNames } from './require-known-names.ts'
export { showKind, showValue } from './show-value.ts'
export {
  invalidArgument,
  isOutage,
  isUnstuckError,
  UnstuckError,
  type UnstuckErrorOptions,
} from './unstuck-error.ts'
