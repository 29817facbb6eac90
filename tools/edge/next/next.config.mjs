// the types are checked in the repository
export default { typescript: { ignoreBuildErrors: true } }
