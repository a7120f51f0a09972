use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;

use crate::{TaskError, User};

/// Characters of a title.
const LONGEST_TITLE: usize = 200;

/// Something that is to be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Task {
    /// Its number, among the tasks of its user.
    pub id: u32,
    /// What is to be done.
    pub title: String,
    /// Whether it is.
    pub done: bool,
}

/// The tasks of all users. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Tasks(Arc<Mutex<HashMap<User, Vec<Task>>>>);

impl Tasks {
    /// Nobody has anything to do.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A user's tasks, oldest first.
    #[must_use]
    pub fn of(&self, user: &User) -> Vec<Task> {
        self.lock().get(user).cloned().unwrap_or_default()
    }

    /// Gives a user something to do.
    ///
    /// # Errors
    ///
    /// [`TaskError::Title`] where the title is empty or has more than 200 characters.
    pub fn add(&self, user: &User, title: &str) -> Result<Task, TaskError> {
        if title.is_empty() || title.chars().count() > LONGEST_TITLE {
            return Err(TaskError::Title(LONGEST_TITLE));
        }
        let mut all = self.lock();
        let tasks = all.entry(user.clone()).or_default();
        let id = tasks.last().map_or(1, |last| last.id + 1);
        let task = Task { id, title: title.to_owned(), done: false };
        tasks.push(task.clone());
        Ok(task)
    }

    /// Notes that a task is done.
    ///
    /// # Errors
    ///
    /// [`TaskError::Unknown`] where the user has no such task.
    pub fn finish(&self, user: &User, id: u32) -> Result<Task, TaskError> {
        let mut all = self.lock();
        let mut tasks = all.get_mut(user).into_iter().flatten();
        let task = tasks.find(|task| task.id == id).ok_or(TaskError::Unknown(id))?;
        task.done = true;
        Ok(task.clone())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<User, Vec<Task>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Users;

    #[test]
    fn everybody_has_a_list() {
        let users = Users::parse("ann=a,bo=b");
        let (ann, bo) =
            (users.signed_in(Some("Bearer a")).unwrap(), users.signed_in(Some("Bearer b")).unwrap());
        let tasks = Tasks::new();
        assert_eq!(tasks.add(&ann, "Call the bank").unwrap().id, 1);
        assert_eq!(tasks.add(&ann, &"ä".repeat(200)).unwrap().id, 2);
        assert_eq!(tasks.add(&ann, &"a".repeat(201)), Err(TaskError::Title(200)));
        assert_eq!(tasks.add(&ann, ""), Err(TaskError::Title(200)));
        assert!(tasks.finish(&ann, 1).unwrap().done);
        assert_eq!(tasks.finish(&bo, 1), Err(TaskError::Unknown(1)));
        assert_eq!((tasks.of(&ann).len(), tasks.of(&bo).len()), (2, 0));
    }
}
