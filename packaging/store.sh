# store.sh, sourced by who has a folder $scratch: `container` is buildah with all that it stores in there, `store_remove` removes it.

# vfs: slower than others, but it works on every file system, and inside containers.
container() { buildah --root "$scratch/storage" --runroot "$scratch/run" --storage-driver vfs "$@"; }

# Of a user who is not root, files belong to others of his namespace, and only in there can they be removed.
store_remove() { if [ "$(id -u)" = 0 ]; then rm -rf "$scratch"; else buildah unshare rm -rf "$scratch"; fi; }
