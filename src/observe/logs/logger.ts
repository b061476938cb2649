/** The interface of pino and most loggers: an object of fields, then a message. */
export interface Logger {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}
