// Imports every entry that it is given: node entries.mjs @tokenlane/core @tokenlane/core/node
for (const name of process.argv.slice(2))
  if (Object.keys(await import(name)).length === 0) throw new Error(`${name} exports nothing`)
