// Imported by name, by code that is never called.
exports.GoogleAuth = undefined;
