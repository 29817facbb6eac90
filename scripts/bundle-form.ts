import type { OutputOptions } from 'rolldown'

/** How a package's files are written, whatever is in them. */
export const form: OutputOptions = {
  format: 'esm',
  sourcemap: true,
  comments: false,
  // Short names of locals leave a sixth less to parse: importing core takes 0.1 less of what it is built on.
  // Functions, classes and lines keep their names and places, so that a stack trace can be read. White space stays: without
  // it importing core takes 0.03 less, and Node prints all of a file that is one line with an error that is not caught.
  minify: {
    compress: false,
    mangle: { toplevel: false, keepNames: true },
    codegen: { removeWhitespace: false },
  },
  minifyInternalExports: false,
}

/**
 * Dependencies of which a package's own file holds what it uses, in place of an import.
 *
 * Core uses one class of p-queue's five files. To find and read those would cost a fifth of core's import, at each start
 * of an application. So an update of p-queue reaches an application with a release of core.
 */
export const held: Readonly<Record<string, readonly string[]>> = { core: ['p-queue'] }
