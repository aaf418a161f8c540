# Prints the API's address of the pull request in the delivery.
node -p 'JSON.parse(fs.readFileSync(process.env.AL_PAYLOAD_FILE, "utf8")).pull_request.url'
