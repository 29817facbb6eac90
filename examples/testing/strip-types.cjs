const { stripTypeScriptTypes } = require('node:module')

/** Makes JavaScript of TypeScript that Node can run, as Node does. */
exports.process = (source) => ({ code: stripTypeScriptTypes(source) })
