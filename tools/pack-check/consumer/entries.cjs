// Requires every entry that it is given: node entries.cjs @tokenlane/core @tokenlane/core/node
for (const name of process.argv.slice(2))
  if (Object.keys(require(name)).length === 0) throw new Error(`${name} exports nothing`)
