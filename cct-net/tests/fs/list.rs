//! The contracts of files that hold for every disk, whatever clock dates what is on it: whoever runs them
//! runs all of them.

/// Hands the list to a macro.
macro_rules! file_contracts {
    ($run:ident) => {
        $run! {
            whole_files
            directories
            renames_and_links
            symbolic_links
            odd_symbolic_links
            options
            reading_and_writing
            permissions
            modes
            denied
            chosen_times
            dots_at_the_end
            long_paths
            groups_of_directories
            nothing_to_read_or_write
            flags
        }
    };
}
