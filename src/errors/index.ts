export { type CatalogEntry, type ErrorCode, type ExitCode, errorCatalog, exitCodes } from './catalog.ts'
export { showKind, showValue } from './show-value.ts'
export {
  invalidArgument,
  isUnstuckError,
  UnstuckError,
  type UnstuckErrorOptions,
} from './unstuck-error.ts'
